package promise

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/gridhook/gridhook/cmd/internal/blackbox"
	"github.com/gridhook/gridhook/cmd/internal/blackbox/blackboxtest"
)

// helmEnv names the variable with the path of helm.
const helmEnv = "GRIDHOOK_HELM"

// chartFolder is the folder of the chart.
const chartFolder = "../../../deploy/helm/gridhook"

// manifest is what processes need of a manifest of the chart.
type manifest struct {
	Kind     string
	Metadata struct{ Name string }
	Data     map[string]string // of a Secret, in base64
	Spec     struct {
		Replicas int
		Strategy struct {
			RollingUpdate rollingUpdate `yaml:"rollingUpdate"`
		}
		Containers []container // of a Pod
		Template   struct {
			Spec struct{ Containers []container }
		}
	}
}

// rollingUpdate is the order in which a Deployment replaces its pods.
type rollingUpdate struct {
	MaxSurge       int `yaml:"maxSurge"`
	MaxUnavailable int `yaml:"maxUnavailable"`
}

type container struct {
	Args []string
	Env  []struct {
		Name, Value string
		ValueFrom   struct {
			SecretKeyRef struct{ Name, Key string }
		} `yaml:"valueFrom"`
	}
}

// pod is a process of the chart.
type pod struct {
	role      string
	args, env []string
	// operatorKey is the operator's key, empty for a worker.
	operatorKey string
}

// chart is the processes of an installation of the chart.
type chart struct {
	// pods are the workers and then the apis, in the order of an upgrade.
	pods []pod
	// test is the command of the pod that helm test runs.
	test []string
}

// renderChart renders the chart with values and returns its processes.
func renderChart(t *testing.T, values ...string) chart {
	t.Helper()
	args := []string{"template", "gridhook", chartFolder, "--kube-version", "1.33"} // any that the chart allows
	for _, value := range values {
		args = append(args, "--set", value)
	}
	cmd := exec.CommandContext(t.Context(), os.Getenv(helmEnv), args...) //nolint:gosec // the script that runs this test names it
	var problems bytes.Buffer
	cmd.Stderr = &problems
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("helm template: %v\n%s", err, problems.String())
	}
	all := manifests(t, text)
	var c chart
	for _, m := range all {
		switch m.Kind {
		case "Deployment":
			if update := m.Spec.Strategy.RollingUpdate; update != (rollingUpdate{MaxSurge: 1}) {
				t.Fatalf("%s has %+v: let fleet.roll follow this order", m.Metadata.Name, update)
			}
			c.pods = append(c.pods, slices.Repeat([]pod{podOf(t, m.Spec.Template.Spec.Containers[0], all)}, m.Spec.Replicas)...)
		case "Pod":
			c.test = m.Spec.Containers[0].Args
		}
	}
	slices.SortStableFunc(c.pods, func(a, b pod) int { return strings.Compare(b.role, a.role) })
	if len(c.pods) < 4 || len(c.test) == 0 {
		t.Fatalf("the chart has %d processes and the test %q", len(c.pods), c.test)
	}
	return c
}

func manifests(t *testing.T, text []byte) (all []manifest) {
	t.Helper()
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var m manifest
		err := decoder.Decode(&m)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
}

// podOf returns the process of a container, with the values of its secrets.
func podOf(t *testing.T, c container, all []manifest) pod {
	t.Helper()
	p := pod{role: c.Args[0], args: c.Args[1:]}
	for _, v := range c.Env {
		value, from := v.Value, v.ValueFrom.SecretKeyRef
		for _, m := range all {
			if m.Kind == "Secret" && m.Metadata.Name == from.Name {
				secret, err := base64.StdEncoding.DecodeString(m.Data[from.Key])
				if err != nil {
					t.Fatal(err)
				}
				value = string(secret)
			}
		}
		if v.Name == "GRIDHOOK_OPERATOR_KEY" {
			p.operatorKey = value
		}
		p.env = append(p.env, v.Name+"="+value)
	}
	return p
}

// start starts a version of the process.
func (p *pod) start(t *testing.T, binary, data string) *process {
	t.Helper()
	if p.operatorKey != "" {
		writeFile(t, filepath.Join(data, "operator.key"), []byte(p.operatorKey)) // for commands
	}
	running := blackboxtest.Start(t, blackbox.Run{Binary: binary, Role: p.role, Data: data, Args: p.args, Env: p.env, Patience: patience})
	started := newProcess(t, running)
	started.binary = binary
	return started
}
