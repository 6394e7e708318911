package deployed

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestChart_Secrets checks that every file in a pod's settings comes from a secret that is
// mounted there, and that the probes use the admin listener's protocol.
func TestChart_Secrets(t *testing.T) {
	for file, manifests := range rendered(t) {
		for _, m := range manifests {
			if !workload(m) {
				continue
			}
			pod := at(m, "spec", "template", "spec")
			container := list(at(pod, "containers"))[0]
			secrets := map[string]any{} // by volume
			for _, v := range list(at(pod, "volumes")) {
				secrets[fmt.Sprint(at(v, "name"))] = at(v, "secret", "secretName")
			}
			mounted := map[string]any{} // secret by folder
			for _, v := range list(at(container, "volumeMounts")) {
				mounted[fmt.Sprint(at(v, "mountPath"))] = secrets[fmt.Sprint(at(v, "name"))]
			}
			set := map[string]string{}
			for _, v := range list(at(container, "env")) {
				set[fmt.Sprint(at(v, "name"))] = fmt.Sprint(at(v, "value"))
			}
			name := fmt.Sprint(file, " ", at(m, "metadata", "name"))
			for setting, path := range set {
				if strings.HasPrefix(path, "/etc/") && mounted[filepath.Dir(path)] == nil {
					t.Errorf("%s: %s is %s, where no secret is mounted", name, setting, path)
				}
			}
			scheme := "HTTP"
			if set["GRIDHOOK_ADMIN_TLS_CERT"] != "" {
				scheme = "HTTPS"
			}
			for _, probe := range []string{"startupProbe", "readinessProbe", "livenessProbe"} {
				if have := at(container, probe, "httpGet", "scheme"); have != scheme {
					t.Errorf("%s: the %s uses %v, want %s", name, probe, have, scheme)
				}
			}
			api := at(container, "name") == "api"
			for setting, want := range map[string]bool{
				"GRIDHOOK_MASTER_KEY_FILE": true, "GRIDHOOK_ADMIN_TLS_KEY": true, "GRIDHOOK_NATS_CREDS": true, "GRIDHOOK_TLS_KEY": api,
			} {
				if have := set[setting] != ""; have != (want && file == "full.yaml") {
					t.Errorf("%s: that %s is set is %t", name, setting, have)
				}
			}
		}
	}
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// TestCompose_Secrets checks that a service has every secret that its settings name, and
// that each secret has a file.
func TestCompose_Secrets(t *testing.T) {
	var compose struct {
		Services map[string]struct {
			Environment map[string]string
			Secrets     []string
		}
		Secrets map[string]struct{ File string }
	}
	decode(t, filepath.Join(deploy, "docker-compose.secure.yml"), &compose)
	for name, s := range compose.Services {
		if s.Environment["GRIDHOOK_MASTER_KEY_FILE"] == "" {
			t.Errorf("%s has no master key", name)
		}
		for setting, path := range s.Environment {
			secret := strings.TrimPrefix(path, "/run/secrets/")
			if !slices.Contains(s.Secrets, secret) || compose.Secrets[secret].File == "" {
				t.Errorf("%s: %s is %s, and the service lacks that secret", name, setting, path)
			}
		}
	}
	if len(compose.Services) != 2 {
		t.Errorf("%d services have secrets", len(compose.Services))
	}
}

var (
	credential = regexp.MustCompile(`(?m)^LoadCredential=([^:\s]+):/`)
	named      = regexp.MustCompile(`=%d/(\S+)`)
)

// TestDropIns_Credentials checks that the settings of systemd's drop-ins name the credentials that
// they load.
func TestDropIns_Credentials(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(deploy, "systemd/drop-ins/*.conf"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no drop-ins: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		var have, want []string
		for _, m := range credential.FindAllStringSubmatch(string(text), -1) {
			have = append(have, m[1])
		}
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			want = append(want, m[1])
		}
		if len(have) == 0 || !slices.Equal(have, want) {
			t.Errorf("%s loads %v and names %v", file, have, want)
		}
	}
}
