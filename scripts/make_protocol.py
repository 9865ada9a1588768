"""Write the gateway's message schema from ``nashdex.games.showdown.protocol``, then validators and types from it."""

import json
import subprocess
from pathlib import Path

from nashdex.games.showdown.gateway import GatewaySettings, find_node
from nashdex.games.showdown.protocol import protocol_schema

PACKAGE = Path(__file__).parents[1] / "services" / "showdown"
SCHEMA = PACKAGE / "src" / "gateway" / "protocol" / "generated" / "schema.json"


def main() -> None:
    """Write schema.json, validators.js and message_types.d.ts beside it."""
    SCHEMA.write_text(json.dumps(protocol_schema(), indent=2, ensure_ascii=False) + "\n")
    subprocess.run(  # noqa: S603 our own program with our own arguments
        [find_node(GatewaySettings()), "scripts/make_protocol.js"], cwd=PACKAGE, check=True
    )


if __name__ == "__main__":
    main()
