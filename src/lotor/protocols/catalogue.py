"""The protocols that daemons can run, by name."""

from lotor.protocols.deployment import Deployment
from lotor.protocols.samba.deployment import SambaDeployment

DEPLOYMENTS: dict[str, Deployment] = {"samba": SambaDeployment()}
