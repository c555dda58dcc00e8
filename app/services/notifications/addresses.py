"""Addresses that the service may connect to on behalf of people."""

from ipaddress import IPv6Address, ip_address, ip_network

from app.config import get_settings

_GLOBAL_UNICAST = ip_network("2000::/3")


def is_allowed(address: str) -> bool:
    """Return whether an IP address is public, or whether the settings permit private networks."""
    if get_settings().webhook_private_networks:
        return True
    ip = ip_address(address)
    if isinstance(ip, IPv6Address) and (ip not in _GLOBAL_UNICAST or ip.sixtofour or ip.teredo):
        return False  # others may lead to any IPv4 address
    return ip.is_global and not ip.is_multicast
