// Package config defines and loads the settings of a process. The struct Config
// (config.go) has a field for each setting. A setting is a flag, an environment variable
// GRIDHOOK_<FLAG> and a key of a YAML file.
//
// Load reports every mistake at once, with its source and what would be valid. The
// package never prints secrets. The table in docs/configuration.md is generated from the
// tags.
//
// Only cmd imports this package: the rest of Gridhook takes plain option structs. The
// package may import pflag, a YAML parser and the standard library, and no other package
// of Gridhook.
package config

//go:generate go run ./internal/gen ../docs/configuration.md
