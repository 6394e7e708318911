package send

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// echoTimeout is the timeout of a challenge.
const echoTimeout = 10 * time.Second

// Echo asks an URL to prove that it belongs to its client, as the OpenADR definition has it
// for callbacks. It sends a GET with the parameter echo. The response must be 200 with the parameter's value in the
// body.
func (s *Sender) Echo(ctx context.Context, rawURL string) error {
	ctx, cancel := context.WithTimeout(ctx, echoTimeout)
	defer cancel()
	u, err := url.Parse(rawURL)
	if err != nil {
		return errors.New("must be a URL")
	}
	challenge := rand.Text()
	u.RawQuery = strings.TrimPrefix(u.RawQuery+"&echo="+challenge, "&") // the rest stays as its client wrote it
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return errors.New("must be a URL")
	}
	response, err := s.authorities.Do(request)
	if err != nil {
		return errors.New("did not respond to the challenge: GET with the parameter echo failed")
	}
	defer func() { _ = response.Body.Close() }() // the body was only read
	body, err := io.ReadAll(io.LimitReader(response.Body, MaxResponse))
	if err != nil || response.StatusCode != http.StatusOK || !strings.Contains(string(body), challenge) {
		return fmt.Errorf("did not echo the challenge: it responded %d, and must respond 200 with the value of the parameter echo", response.StatusCode)
	}
	return nil
}
