package api_test

import (
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gridhook/gridhook/api/rest"
)

// Many clients that send nothing, or send slowly, do not delay others. The log has the
// response times.
func TestSlowClients_Isolated(t *testing.T) {
	const clients, asked = 200, 100
	e := newEnv(t, rest.Options{Rate: 1e6, Burst: 1e6})
	key, _ := e.twoTenants()
	address := strings.TrimPrefix(e.public.URL, "http://")
	for i := range clients {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		must(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		begins := []string{"", "POST /v1/homes/home1/price_signal HTTP/1.1\r\nHost: x\r\n", "POST /v1/feedback HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"}
		_, err = io.WriteString(conn, begins[i%len(begins)])
		must(t, err)
	}
	var took []time.Duration
	for range asked {
		began := time.Now()
		e.ask(key, "/v1/homes/home1/price_signal", "").expect(t, http.StatusOK, "")
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	t.Logf("with %d slow clients: median %s, 99 of 100 within %s", clients, took[asked/2], took[asked*99/100])
}
