package openadr_test

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"testing"
)

// TestGeneratedClient_Callbacks runs a client that a stock generator made from the official
// document. It takes a token, finds a program, subscribes, and reads the event of each
// callback. GRIDHOOK_OPENADR_VEN names the client, a program for Node.
func TestGeneratedClient_Callbacks(t *testing.T) {
	t.Parallel()
	script := os.Getenv("GRIDHOOK_OPENADR_VEN")
	if script == "" {
		t.Skip("GRIDHOOK_OPENADR_VEN does not name a client")
	}
	w := newWorld(t)
	program := w.program("Generated")
	ven := exec.CommandContext(t.Context(), "node", script)
	ven.Env = append(os.Environ(), "OPENADR_URL="+w.base[:len(w.base)-1], "OPENADR_CLIENT_ID="+w.keys["ven1"], "OPENADR_CLIENT_SECRET="+w.secrets["ven1"], "OPENADR_PROGRAM=Generated")
	ven.Stderr = os.Stderr
	out, err := ven.StdoutPipe()
	must(t, err)
	must(t, ven.Start())
	defer func() {
		_ = ven.Process.Kill() // it listens until it is killed
		_ = ven.Wait()         // it was killed
	}()
	lines := bufio.NewScanner(out)
	says := func(want string) {
		t.Helper()
		if !lines.Scan() || lines.Text() != want {
			t.Fatalf("the client prints %q, want %q", lines.Text(), want)
		}
	}
	if !lines.Scan() {
		t.Fatal("the client does not subscribe")
	}
	body := `{"programID":"` + program + `","eventName":"%s","intervals":[{"id":0,"payloads":[{"type":"PRICE","values":[%s]}]}]}`
	event := w.want(http.StatusCreated, "bl", http.MethodPost, "events", fmt.Sprintf(body, "first", "0.25")).field("id")
	says("CREATE " + event + " first 0.25")
	w.want(http.StatusOK, "bl", http.MethodPut, "events/"+event, fmt.Sprintf(body, "second", "0.5"))
	says("UPDATE " + event + " second 0.5")
}
