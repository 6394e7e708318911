//go:build !linux

package blackbox

import "os/exec"

// dieWithParent does nothing: only Linux kills the children of a killed parent.
func dieWithParent(*exec.Cmd) {}

func fork(cmd *exec.Cmd) error { return cmd.Start() }
