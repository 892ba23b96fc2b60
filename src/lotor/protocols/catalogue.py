"""The protocols that daemons can run, by name."""

from lotor.protocols.deployment import Deployment
from lotor.protocols.helba.deployment import HelbaDeployment
from lotor.protocols.linucb_ds.deployment import LinearDeployment
from lotor.protocols.linucb_ds.protocol import LinUCBDS, SpectralUCBDS
from lotor.protocols.ppcb.deployment import PPCBDeployment
from lotor.protocols.samba.deployment import SambaDeployment

DEPLOYMENTS: dict[str, Deployment] = {
    "helba": HelbaDeployment(),
    "linucb-ds": LinearDeployment(LinUCBDS),
    "ppcb": PPCBDeployment(),
    "samba": SambaDeployment(),
    "spectral-ucb-ds": LinearDeployment(SpectralUCBDS),
}
