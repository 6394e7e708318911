package promise

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gridhook/gridhook/cmd/internal/blackbox"
)

// natsIn starts a nats-server with its files in a folder.
func natsIn(t *testing.T, dir string) (url string, server *blackbox.Process) {
	t.Helper()
	address := freeAddress(t)
	return "nats://" + address, startIn(t, &blackbox.NATS{Binary: binaries.NATS, Dir: dir, Address: address, Patience: patience})
}

// tracesIn returns which texts the files of a folder have, each with the file's path.
func tracesIn(t *testing.T, dir string, texts ...string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path) //nolint:gosec // of the test itself
		for _, text := range texts {
			if bytes.Contains(content, []byte(text)) {
				found = append(found, text+" in "+strings.TrimPrefix(path, dir))
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// The files of an external NATS may have bytes of a deleted organization, such as earlier
// versions of its records. The files of another NATS with the restored backup have none,
// except for the audit log.
func TestErasure_RestoredIntoOtherNATS(t *testing.T) {
	t.Parallel()
	oldFiles, newFiles := t.TempDir(), t.TempDir()
	old, _ := natsIn(t, oldFiles)
	api := start(t, "api", t.TempDir(), "--nats", old)
	furnish(t, api, 10)

	// The identifier of the organization is in the audit log, all other texts nowhere.
	const doomed = "zebra-quagga"
	private := []string{"Zebra and Quagga", "Vermilion Lane", "zqhome", "zqendpoint", "quagga.example"}
	api.command("org", "create", "--id", doomed, "--name", "Zebra and Quagga")
	api.command("key", "create", "--org", doomed)
	file := filepath.Join(t.TempDir(), "lines.ndjson")
	for version := range 3 {
		var lines bytes.Buffer
		for i := range 20 {
			fmt.Fprintf(&lines, `{"resource":"home","organizationId":%q,"id":"zqhome%d","streetAddress":"%d Vermilion Lane","timezone":"America/Chicago","ratePlanId":%q}`+"\n", doomed, i, version, plans()[0].ID)
		}
		fmt.Fprintf(&lines, `{"resource":"webhookEndpoint","organizationId":%q,"id":"zqendpoint","url":"https://quagga.example/%d"}`+"\n", doomed, version)
		writeFile(t, file, lines.Bytes())
		api.command("import", file)
	}
	api.command("org", "update", doomed, "--name", "Okapi")
	api.command("org", "delete", doomed, "--confirm", doomed)
	if len(tracesIn(t, oldFiles, private...)) == 0 {
		t.Fatal("the old files have nothing of the organization: this test shows nothing about the new files")
	}

	key, recipient := keygen(t)
	backup := filepath.Join(t.TempDir(), "gridhook.backup")
	api.command("backup", backup, "--recipient", recipient)
	api.stop()
	other, server := natsIn(t, newFiles)
	if out, err := command(t, nil, "restore", backup, "--identity", key, "--nats", other); err != nil {
		t.Fatal(out)
	}
	api = start(t, "api", t.TempDir(), "--nats", other)
	if list := api.command("org", "list", "--json"); strings.Contains(list, doomed) || !strings.Contains(list, organization) {
		t.Errorf("the organizations are %s", list)
	}
	if out, err := api.try("org", "create", "--id", doomed, "--name", "New"); err == nil || !strings.Contains(out, "was deleted") {
		t.Errorf("the identifier is accepted again: %v %s", err, out)
	}
	api.stop()
	if err := server.Stop(patience); err != nil {
		t.Fatal(err)
	}
	for _, trace := range tracesIn(t, newFiles, append(private, "Okapi", doomed)...) {
		if !strings.HasPrefix(trace, doomed) || !strings.Contains(trace, "GRIDHOOK_AUDIT") {
			t.Errorf("the new files have %s", trace)
		}
	}
	if len(tracesIn(t, newFiles, organization)) == 0 {
		t.Error("the new files have nothing of the other organization")
	}
}
