"""`python -m studies.peers`: install the peers and say which versions run."""

from __future__ import annotations

from studies.peers.environment import peer_python, peer_versions


def main() -> None:
    """Install what is missing and print the versions."""
    for name, version in peer_versions(peer_python()).items():
        print(f"{name} {version}")


if __name__ == "__main__":
    main()
