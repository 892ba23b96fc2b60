"""A party as a process of its own: its kit, its rules, its connections, its runs."""
