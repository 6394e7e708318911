package examples

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/client"
	"github.com/gridhook/gridhook/cmd/internal/blackbox"
	"github.com/gridhook/gridhook/cmd/internal/blackbox/blackboxtest"
	"github.com/gridhook/gridhook/cmd/internal/sandbox"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing/catalog"
)

const (
	patience = 60 * time.Second
	homes    = 70 // more than a slice
)

func homeID(i int) string { return fmt.Sprintf("home-%d", i) }

// program is a receiver that the test can start.
type program struct {
	language string
	command  []string
}

// programs returns the receivers that can run here. If GRIDHOOK_TYPESCRIPT_RECEIVER names
// the compiled one, as in .ci/examples, none may be missing.
func programs(t *testing.T, dir string) []program {
	t.Helper()
	root, err := blackbox.Source()
	if err != nil {
		t.Fatal(err)
	}
	goReceiver := filepath.Join(dir, "go-receiver")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", goReceiver, "./docs/examples/go-receiver")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	list := []program{{"Go", []string{goReceiver}}}
	typescript := os.Getenv("GRIDHOOK_TYPESCRIPT_RECEIVER")
	if python, err := python3(); err == nil {
		list = append(list, program{"Python", []string{python, filepath.Join(root, "docs/examples/python-receiver/receiver.py")}})
	} else if typescript != "" {
		t.Fatal(err)
	}
	if typescript != "" {
		list = append(list, program{"TypeScript", []string{"node", typescript}})
	}
	return list
}

// python3 returns a Python that is new enough for the receiver.
func python3() (path string, err error) {
	if path, err = exec.LookPath("python3"); err != nil {
		return "", err
	}
	if exec.Command(path, "-c", "import sys; sys.exit(sys.version_info < (3, 9))").Run() != nil { //nolint:gosec,noctx // it ends
		return "", errors.New("python3 is older than 3.9")
	}
	return path, nil
}

// world is a Gridhook with a rate plan.
type world struct {
	t        *testing.T
	operator *client.Client
}

func newWorld(t *testing.T, dir string) *world {
	t.Helper()
	binary := filepath.Join(dir, "gridhook")
	if err := blackbox.BuildGridhook(binary); err != nil {
		t.Fatal(err)
	}
	running := blackboxtest.Start(t, blackbox.Run{Binary: binary, Role: "serve", Data: filepath.Join(dir, "data"), Patience: patience})
	w := &world{t: t, operator: blackboxtest.Operator(t, running)}
	plan := catalog.Plans()[0]
	if _, err := w.operator.ImportPlan(t.Context(), client.NewPlan{ID: plan.ID, Tariff: plan.URDB}); err != nil {
		t.Fatal(err)
	}
	return w
}

// organization creates an organization with homes, and returns a client of it.
func (w *world) organization(t *testing.T, id string) *client.Client {
	t.Helper()
	if _, err := w.operator.CreateOrganization(t.Context(), client.NewOrganization{ID: id, Name: id}); err != nil {
		t.Fatal(err)
	}
	plan := catalog.Plans()[0]
	var lines bytes.Buffer
	for i := range homes {
		fmt.Fprintf(&lines, `{"resource":"home","organizationId":%q,"id":%q,"name":"A home","timezone":%q,"ratePlanId":%q}`+"\n", id, homeID(i), plan.Timezone, plan.ID)
	}
	if got, err := w.operator.Import(t.Context(), &lines); err != nil || got.Created != homes {
		t.Fatalf("%+v, %v", got, err)
	}
	return w.operator.For(id)
}

// trigger triggers the homes, and checks that each is delivered.
func trigger(t *testing.T, c *client.Client) {
	t.Helper()
	accepted, err := c.Trigger(t.Context(), client.TriggerRequest{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var p events.Progress
	err = sandbox.Poll(ctx, 10*time.Millisecond, func() (bool, error) {
		p, err = c.GetTrigger(ctx, accepted.TriggerID)
		return p.Status == events.TriggerCompleted, err
	})
	if err != nil || p.Outcomes[events.OutcomeDelivered] != homes {
		t.Fatalf("the outcomes of %d homes are %v: %v", homes, p.Outcomes, err)
	}
}

// start starts a receiver and returns the URL of its webhook.
func (p program) start(t *testing.T, secret string) (hooks string) {
	t.Helper()
	found := make(chan string, 1)
	blackboxtest.StartProcess(t, "the receiver", blackbox.Spec{
		Binary: p.command[0], Args: p.command[1:], Patience: patience,
		Env: []string{"ADDRESS=127.0.0.1:0", "GRIDHOOK_WEBHOOK_SECRET=" + secret},
		Ready: func(line string) bool {
			url, ok := strings.CutPrefix(line, "listening on ")
			if ok {
				found <- url
			}
			return ok
		},
	})
	return <-found
}

// held is a signal that a receiver stores.
type held struct {
	HomeID   string            `json:"homeId"`
	Sequence uint64            `json:"sequence"`
	Data     []json.RawMessage `json:"data"`
}

// sequence returns the sequence that all homes have. All homes must be there.
func sequence(t *testing.T, signals map[string]held) uint64 {
	t.Helper()
	var all []uint64
	for i := range homes {
		h := signals[homeID(i)]
		if h.HomeID != homeID(i) || len(h.Data) != 96 {
			t.Fatalf("%s is stored as %s with %d intervals", homeID(i), h.HomeID, len(h.Data))
		}
		all = append(all, h.Sequence)
	}
	if slices.Min(all) != slices.Max(all) {
		t.Fatalf("the sequences are %v", all)
	}
	return all[0]
}
