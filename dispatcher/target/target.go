package target

import (
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/gridhook/gridhook/dispatcher/gate"
	"github.com/gridhook/gridhook/dispatcher/send"
	"github.com/gridhook/gridhook/dispatcher/send/httpclient"
	"github.com/gridhook/gridhook/dispatcher/webhook"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/vault"
)

// Target is a webhook endpoint that is ready for sending.
type Target struct {
	storage.WebhookEndpoint
	Destination *send.Destination
	Signers     []*webhook.Signer
	// Gate is nil if the target is for a single test.
	Gate *gate.Endpoint

	revision uint64
}

// Headers returns the headers that identify and sign a payload sent at a time.
func (t *Target) Headers(p *webhook.Payload, at time.Time) []send.Header {
	timestamp, signature := webhook.Sign(t.Signers, p, at)
	headers := []send.Header{
		{Name: "Webhook-Id", Value: p.ID}, {Name: "Webhook-Timestamp", Value: timestamp}, {Name: "Webhook-Signature", Value: signature},
	}
	if len(t.Signers) == 0 { // a callback of OpenADR has a bearer token instead
		return headers[:2]
	}
	return headers
}

// Receiver identifies the endpoint as its record describes it. After a change of the record
// nothing is known about what the receiver has: another server may listen there, or the
// endpoint may have received every signal for a while. A restored state may use a revision
// again, so the URL and the format count too.
func (t *Target) Receiver() string {
	return storage.Hash(fmt.Sprintf("%s\x00%s\x00%s\x00%d", t.URL, t.SealedURL, t.Format, t.revision), 8)
}

// Open decodes an endpoint's record and decrypts its secrets.
func Open(v *vault.Vault, r storage.Record) (*Target, error) {
	stored, err := storage.DecodeEndpoint(r)
	if err != nil {
		return nil, err
	}
	return open(v, stored, r.Revision)
}

func open(v *vault.Vault, stored storage.WebhookEndpoint, revision uint64) (t *Target, err error) {
	t = &Target{WebhookEndpoint: stored, revision: revision}
	d := &send.Destination{Timeout: time.Duration(stored.TimeoutSeconds * float64(time.Second)), EndpointID: stored.ID}
	d.Header = http.Header{"Content-Type": {"application/json"}, "User-Agent": {events.UserAgent}}
	d.Organization, d.Protocol = stored.OrganizationID, protocols[stored.HTTPVersion]
	t.Destination = d
	if stored.Compression == storage.CompressionGzip {
		d.Header.Set("Content-Encoding", "gzip")
	}
	if err := v.OpenEndpoint(&stored); err != nil {
		return nil, fmt.Errorf("endpoint %s: %w", stored.ID, err)
	}
	for name, value := range stored.Headers {
		d.Header.Set(name, value)
		d.Secrets = append(d.Secrets, value)
	}
	if d.URL, err = url.Parse(stored.URL); err != nil {
		return nil, fmt.Errorf("endpoint %s: its URL does not parse", stored.ID) // the error contains the URL with its query
	}
	if err := t.openSecrets(v, stored.Authentication); err != nil {
		return nil, fmt.Errorf("endpoint %s: %w", stored.ID, err)
	}
	return t, nil
}

// protocols maps HTTP versions to the HTTP client's protocols.
var protocols = map[storage.HTTPVersion]httpclient.Protocol{
	storage.HTTPVersionAuto: httpclient.Auto, storage.HTTPVersion1: httpclient.HTTP1, storage.HTTPVersion2: httpclient.HTTP2,
}

// openSecrets decrypts the keys and tokens that sign and authorize the requests. a is the
// endpoint's authentication with its token URL in the clear.
func (t *Target) openSecrets(v *vault.Vault, a *storage.Authentication) error {
	for _, sealed := range t.Secrets {
		secret, err := v.Open(t.OrganizationID, t.ID, sealed.Sealed)
		if err != nil {
			return err
		}
		signer, err := webhook.NewSigner(secret, sealed.ExpiresAt.Time)
		if err != nil {
			return err
		}
		t.Signers = append(t.Signers, signer)
	}
	if a != nil {
		secret, err := v.Open(t.OrganizationID, t.ID, a.Sealed)
		if err != nil {
			return err
		}
		if a.Type == storage.AuthenticationOAuth2 {
			t.Destination.Tokens = send.NewTokens(a, secret)
		} else {
			t.Destination.Header.Set("Authorization", "Bearer "+secret)
			t.Destination.Secrets = append(t.Destination.Secrets, secret)
		}
	}
	if c := t.ClientCertificate; c != nil {
		key, err := v.Open(t.OrganizationID, t.ID, c.SealedKey)
		if err != nil {
			return err
		}
		certificate, err := tls.X509KeyPair([]byte(c.Certificate), []byte(key))
		if err != nil {
			return errors.New("the client certificate and its key do not go together")
		}
		t.Destination.Identity = httpclient.Identity{
			Name:        fmt.Sprintf("%s/%s %x", t.OrganizationID, t.ID, sha256.Sum256(certificate.Certificate[0])),
			Certificate: &certificate,
		}
	}
	return nil
}
