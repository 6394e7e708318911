// Package config is how an operator says what a process shall do: one table of
// settings (settings.go), each of which is a flag, an environment variable
// GRIDHOOK_<FLAG> and a key of a YAML file. Every mistake is reported at once,
// with where it was made and what would be right; secrets are never printed; the
// reference in docs/configuration.md is rendered from the table.
//
// Only cmd reads this package: the rest of Gridhook takes plain option structs.
// It may import koanf, pflag and the standard library, and no room of the house.
package config

//go:generate sh -c "go run ../cmd/gridhook config-reference > ../docs/configuration.md"
