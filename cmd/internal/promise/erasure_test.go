package promise

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// refused returns the status of a request with an organization's key.
func (p *process) refused(t *testing.T, key string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.api+"/v1/homes/h0/price_signal", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("x-ws-api-key", key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode
}

// An organization is deleted in a fleet. The api process that deletes is killed. The other
// one shows nothing of the organization, finishes the deletion, and delivers the other
// organization's signals.
func TestErasure_KilledInTheMiddle(t *testing.T) {
	t.Parallel()
	const homes, doomedHomes = 200, 1500 // so many that the deletion outlasts the kill on a slow machine
	url := nats(t)
	deleting := start(t, "api", t.TempDir(), "--nats", url)
	other := start(t, "api", t.TempDir(), "--nats", url)
	start(t, "worker", t.TempDir(), "--nats", url)
	acme, r := furnish(t, other, homes), newReceiver(t)
	acme.register(r, nil)

	deleting.command("org", "create", "--id", "doomed", "--name", "Doomed Power")
	key := decode[struct{ Key string }](t, deleting.command("key", "create", "--org", "doomed", "--json")).Key
	var lines bytes.Buffer
	for i := range doomedHomes {
		fmt.Fprintf(&lines, `{"resource":"home","organizationId":"doomed","id":"h%d","timezone":"America/Chicago","ratePlanId":%q}`+"\n", i, plans()[0].ID)
	}
	file := filepath.Join(t.TempDir(), "homes.ndjson")
	writeFile(t, file, lines.Bytes())
	deleting.command("import", file)
	if status := deleting.refused(t, key); status != http.StatusOK {
		t.Fatalf("before the deletion the key gets %d", status)
	}

	ended := make(chan error, 1)
	go func() {
		_, err := deleting.try("org", "delete", "doomed", "--confirm", "doomed")
		ended <- err
	}()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(patience); other.refused(t, key) != http.StatusUnauthorized; {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("the key is still accepted")
		}
	}
	deleting.kill()
	if err := <-ended; err == nil {
		t.Fatal("the deletion ended before the kill")
	}

	if out, err := other.try("org", "get", "doomed"); err == nil || !strings.Contains(out, "There is no organization") {
		t.Errorf("the deleted organization is shown: %v %s", err, out)
	}
	if out, err := other.try("org", "delete", "doomed", "--confirm", "domed"); err == nil || !strings.Contains(out, "confirm") {
		t.Errorf("a wrong confirmation is accepted: %v %s", err, out)
	}
	receipt := decode[struct {
		Complete bool
		Records  map[string]int
		ErasedBy time.Time
	}](t, other.command("org", "delete", "doomed", "--confirm", "doomed", "--json"))
	if n := receipt.Records["home"]; !receipt.Complete || n == 0 || n > doomedHomes || receipt.ErasedBy.Before(time.Now()) {
		t.Errorf("the receipt is %+v", receipt)
	}
	if out, err := other.try("org", "create", "--id", "doomed", "--name", "New"); err == nil || !strings.Contains(out, "was deleted") {
		t.Errorf("the identifier is accepted again: %v %s", err, out)
	}
	restarted := start(t, "api", deleting.data, "--nats", url)
	for _, p := range []*process{other, restarted} {
		if list := p.command("org", "list", "--json"); strings.Contains(list, "doomed") || !strings.Contains(list, organization) {
			t.Errorf("the organizations are %s", list)
		}
		if status := p.refused(t, key); status != http.StatusUnauthorized {
			t.Errorf("the key of the deleted organization gets %d", status)
		}
	}
	acme.delivered(acme.trigger(), homes)
	// The guard compares the streams with the replica each second.
	if response, err := http.Get("http://" + strings.TrimPrefix(other.admin, "http://") + "/readyz"); err != nil || response.Body.Close() != nil || response.StatusCode != http.StatusOK { //nolint:noctx // a test
		t.Errorf("the other process is not ready: %v", err)
	}
	var entries []struct{ Operation, OrganizationID string }
	if err := json.Unmarshal([]byte(other.command("audit", "list", "--json")), &entries); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Operation == "deleteOrganization" && e.OrganizationID == "doomed" {
			return
		}
	}
	t.Errorf("the audit log has no entry of the deletion: %+v", entries)
}
