package main

import (
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version identifies a build.
type version struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// readVersion reads the compiler's build information.
func readVersion() version {
	v := version{Version: "unknown", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v.Revision = s.Value
		}
	}
	return v
}

func newVersionCommand(g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use: "version", Short: "Print the version of this build",
		Example: `  gridhook version --json`, Args: takes(),
		RunE: func(*cobra.Command, []string) error {
			return g.show(g.version, func(w io.Writer) {
				row(w, "gridhook "+g.version.Version)
				if g.version.Revision != "" {
					row(w, "revision "+g.version.Revision)
				}
				row(w, g.version.Go+" "+g.version.Platform)
			})
		},
	}
	g.outputFlags(cmd.Flags())
	return cmd
}
