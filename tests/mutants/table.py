"""All faults, in the order in which they are tried."""

from mutants import (
    faults_circuits,
    faults_continued,
    faults_crypto,
    faults_garbling,
    faults_hidden,
    faults_inbox,
    faults_kept,
    faults_linear,
    faults_local,
    faults_operations,
    faults_pacing,
    faults_products,
    faults_protocols,
    faults_runtime,
    faults_shared,
    faults_two_servers,
)

FAULTS = [
    *faults_crypto.FAULTS,
    *faults_circuits.FAULTS,
    *faults_garbling.FAULTS,
    *faults_products.FAULTS,
    *faults_protocols.FAULTS,
    *faults_shared.FAULTS,
    *faults_continued.FAULTS,
    *faults_two_servers.FAULTS,
    *faults_linear.FAULTS,
    *faults_hidden.FAULTS,
    *faults_kept.FAULTS,
    *faults_runtime.FAULTS,
    *faults_inbox.FAULTS,
    *faults_local.FAULTS,
    *faults_pacing.FAULTS,
    *faults_operations.FAULTS,
]
