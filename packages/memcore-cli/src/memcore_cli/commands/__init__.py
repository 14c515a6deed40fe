"""The commands, by what they are for; `memcore_cli.app` names them all."""
