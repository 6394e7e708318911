package main

import (
	"github.com/spf13/cobra"

	"github.com/gridhook/gridhook/config"
)

// newConfigReferenceCommand writes docs/configuration.md: see package config.
func newConfigReferenceCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "config-reference", Short: "Print the reference of the settings in Markdown", Hidden: true, Args: takes(),
		RunE: func(*cobra.Command, []string) error { return config.WriteReference(g.out) },
	}
}
