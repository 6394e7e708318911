package deployed

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// manifest is one document of a rendered chart.
type manifest = map[string]any

// rendered returns the chart's renderings in the folder GRIDHOOK_MANIFESTS, by file.
func rendered(t *testing.T) map[string][]manifest {
	t.Helper()
	dir := os.Getenv("GRIDHOOK_MANIFESTS")
	if dir == "" {
		t.Skip("GRIDHOOK_MANIFESTS does not name a folder of rendered manifests: .ci/deploy renders them and runs this test")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no manifests in %s: %v", dir, err)
	}
	all := map[string][]manifest{}
	for _, file := range files {
		all[filepath.Base(file)] = manifestsOf(t, file)
	}
	return all
}

// manifestsOf returns the documents of a file.
func manifestsOf(t *testing.T, file string) (all []manifest) {
	t.Helper()
	text, err := os.ReadFile(file) //nolint:gosec // of the repository, or of .ci/deploy
	must(t, err)
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var m manifest
		err := decoder.Decode(&m)
		if errors.Is(err, io.EOF) {
			return all
		}
		must(t, err)
		if m != nil {
			all = append(all, m)
		}
	}
}

// shipped returns the chart's renderings and the manifests of NATS.
func shipped(t *testing.T) map[string][]manifest {
	t.Helper()
	all := rendered(t)
	all["nats.yaml"] = manifestsOf(t, filepath.Join(deploy, "kubernetes/nats.yaml"))
	return all
}

// TestManifests_Schemas validates the shipped manifests against the schemas in the folders of
// GRIDHOOK_SCHEMAS.
func TestManifests_Schemas(t *testing.T) {
	all := shipped(t)
	s := newSchemas(t, strings.Split(os.Getenv("GRIDHOOK_SCHEMAS"), string(os.PathListSeparator)))
	kinds := map[string]bool{}
	for file, manifests := range all {
		for _, m := range manifests {
			kinds[m["kind"].(string)] = true
			if err := s.check(m); err != nil {
				t.Errorf("%s: %s %v: %v", file, m["kind"], at(m, "metadata", "name"), err)
			}
		}
	}
	t.Logf("checked %v", slices.Sorted(maps.Keys(kinds)))
	for _, kind := range []string{
		"Deployment", "Service", "PodDisruptionBudget", "NetworkPolicy", "ScaledObject", "HorizontalPodAutoscaler", "StatefulSet", "CronJob", "Pod", "ServiceMonitor", "PrometheusRule", "Ingress", "ConfigMap", "Secret",
	} {
		if !kinds[kind] {
			t.Errorf("%s was not rendered", kind)
		}
	}
	wrong := manifest{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "x"},
		"spec": map[string]any{"replica": 2, "selector": map[string]any{}, "template": map[string]any{}},
	}
	if s.check(wrong) == nil {
		t.Error("a Deployment with a misspelled field was accepted")
	}
}

// TestSelectors_OneWorkload checks that each selector selects the pods of one workload, and that each
// reference names an existing workload.
func TestSelectors_OneWorkload(t *testing.T) {
	for file, manifests := range shipped(t) {
		pods := map[string]map[string]any{} // workload -> the labels of its pods
		for _, m := range manifests {
			if workload(m) {
				pods[at(m, "metadata", "name").(string)], _ = at(m, "spec", "template", "metadata", "labels").(map[string]any)
			}
		}
		for _, m := range manifests {
			var selector any
			want := 1
			switch m["kind"] {
			case "Deployment", "StatefulSet", "PodDisruptionBudget":
				selector = at(m, "spec", "selector", "matchLabels")
			case "NetworkPolicy":
				selector = at(m, "spec", "podSelector", "matchLabels")
			case "Service":
				selector = at(m, "spec", "selector")
				if strings.HasSuffix(at(m, "metadata", "name").(string), "-admin") {
					want = len(pods)
				}
			case "ScaledObject", "HorizontalPodAutoscaler":
				if name, _ := at(m, "spec", "scaleTargetRef", "name").(string); pods[name] == nil {
					t.Errorf("%s: the %s scales %q, which does not exist", file, m["kind"], name)
				}
				continue
			default:
				continue
			}
			if n := selected(selector, pods); n != want {
				t.Errorf("%s: %s %v selects the pods of %d workloads, want %d", file, m["kind"], at(m, "metadata", "name"), n, want)
			}
		}
	}
}

// workload reports whether a manifest runs a process of the product.
func workload(m manifest) bool { return m["kind"] == "Deployment" || m["kind"] == "StatefulSet" }

// selected counts the workloads whose pods have the labels.
func selected(selector any, pods map[string]map[string]any) int {
	labels, _ := selector.(map[string]any)
	n := 0
	for _, have := range pods {
		all := len(labels) > 0
		for name, value := range labels {
			all = all && have[name] == value
		}
		if all {
			n++
		}
	}
	return n
}

// at returns the value at a path of a manifest, nil if there is none.
func at(v any, path ...string) any {
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

// TestManifests_TrustedIngress checks that the api trusts the ingress's X-Forwarded-For
// if the chart has an ingress, and no proxy otherwise.
func TestManifests_TrustedIngress(t *testing.T) {
	for file, manifests := range rendered(t) {
		ingress, trusts := false, false
		for _, m := range manifests {
			ingress = ingress || m["kind"] == "Ingress"
			text, err := yaml.Marshal(m)
			must(t, err)
			trusts = trusts || bytes.Contains(text, []byte("GRIDHOOK_TRUSTED_PROXIES"))
		}
		if ingress != trusts {
			t.Errorf("%s: with an ingress (%t) the api trusts proxies: %t", file, ingress, trusts)
		}
	}
}

// TestManifests_StartupSeconds checks that the startup probe gives a pod its startupSeconds.
func TestManifests_StartupSeconds(t *testing.T) {
	for file, manifests := range rendered(t) {
		want := 360
		if file == "full.yaml" {
			want = 900
		}
		for _, m := range manifests {
			if !workload(m) {
				continue
			}
			probe := at(list(at(m, "spec", "template", "spec", "containers"))[0], "startupProbe")
			period, err := strconv.Atoi(fmt.Sprint(at(probe, "periodSeconds")))
			must(t, err)
			failures, err := strconv.Atoi(fmt.Sprint(at(probe, "failureThreshold")))
			must(t, err)
			if have := period * failures; have != want {
				t.Errorf("%s: %v may start for %d s, want %d", file, at(m, "metadata", "name"), have, want)
			}
		}
	}
}

// TestCommands_Services checks that no service selects the pods of backups and tests, that the
// network policies admit them, and that they call a service that selects the admin API.
func TestCommands_Services(t *testing.T) {
	for file, manifests := range rendered(t) {
		services, commands := map[string]map[string]any{}, 0
		for _, m := range manifests {
			if m["kind"] == "Service" {
				services[at(m, "metadata", "name").(string)], _ = at(m, "spec", "selector").(map[string]any)
			}
		}
		for _, m := range manifests {
			pod := m
			switch m["kind"] {
			case "Pod":
			case "CronJob":
				pod, _ = at(m, "spec", "jobTemplate", "spec", "template").(manifest)
			default:
				continue
			}
			commands++
			labels, _ := at(pod, "metadata", "labels").(map[string]any)
			called := ""
			for _, v := range list(at(list(at(pod, "spec", "containers"))[0], "env")) {
				if at(v, "name") == "GRIDHOOK_ADMIN_URL" {
					_, host, _ := strings.Cut(at(v, "value").(string), "://")
					called, _, _ = strings.Cut(host, ".")
				}
			}
			if services[called] == nil {
				t.Errorf("%s: %s calls the service %q, which does not exist", file, m["kind"], called)
			}
			for name, selector := range services {
				if selected(selector, map[string]map[string]any{"it": labels}) != 0 {
					t.Errorf("%s: the service %s selects the pod of a %s", file, name, m["kind"])
				}
			}
			for _, policy := range manifests {
				if policy["kind"] != "NetworkPolicy" {
					continue
				}
				admitted := false
				for _, rule := range list(at(policy, "spec", "ingress")) {
					for _, from := range list(at(rule, "from")) {
						admitted = admitted || selected(at(from, "podSelector", "matchLabels"), map[string]map[string]any{"it": labels}) == 1
					}
				}
				if !admitted {
					t.Errorf("%s: %v does not admit the pod of a %s", file, at(policy, "metadata", "name"), m["kind"])
				}
			}
		}
		if commands == 0 {
			t.Errorf("%s has no pod that runs a command", file)
		}
	}
}

// TestManifests_EgressPorts checks that the network policies let the processes reach a mail
// server and a collector if the values configure them, and only then.
func TestManifests_EgressPorts(t *testing.T) {
	for file, manifests := range rendered(t) {
		for _, m := range manifests {
			if m["kind"] != "NetworkPolicy" {
				continue
			}
			open := map[string]bool{}
			for _, rule := range list(at(m, "spec", "egress")) {
				for _, port := range list(at(rule, "ports")) {
					open[fmt.Sprint(at(port, "port"))] = true
				}
			}
			for _, port := range []string{"587", "4318"} {
				if want := file == "full.yaml"; open[port] != want {
					t.Errorf("%s: %v opens port %s: %v, want %v", file, at(m, "metadata", "name"), port, open[port], want)
				}
			}
		}
	}
}
