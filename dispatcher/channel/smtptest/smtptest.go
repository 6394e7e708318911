// Package smtptest has an SMTP server for tests.
package smtptest

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// Mailbox is an SMTP server that stores the emails of a user.
type Mailbox struct {
	// Address is the server's address. Roots trusts its certificate.
	Address string
	Roots   *x509.CertPool

	arrived chan struct{}
	mu      sync.Mutex
	emails  []Email
}

// Email is a received email. User is the authenticated user of its sender.
type Email struct{ From, To, User, Text string }

// User and Password are the credentials of the user.
const (
	User     = "gridhook"
	Password = "p@ss:word/1"
)

// Security is how a mailbox uses TLS.
type Security int

// The ways to use TLS. A mailbox with TLS requires a user.
const (
	NoTLS Security = iota
	StartTLS
	FromStart
)

// Listen starts an SMTP server at an address of the loopback. It stops with the test.
func Listen(t *testing.T, address string, security Security) *Mailbox {
	t.Helper()
	web := httptest.NewTLSServer(nil) // for its certificate
	web.Close()
	b := &Mailbox{Roots: x509.NewCertPool(), arrived: make(chan struct{}, 1)}
	b.Roots.AddCert(web.Certificate())
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	b.Address = l.Addr().String()
	s := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) {
		return &session{box: b, needsUser: security != NoTLS}, nil
	}))
	s.Domain, s.ReadTimeout, s.WriteTimeout = "mail.example", 10*time.Second, 10*time.Second
	if security != NoTLS {
		s.TLSConfig = &tls.Config{Certificates: web.TLS.Certificates}
	}
	if security == FromStart {
		l = tls.NewListener(l, s.TLSConfig)
	}
	served := make(chan struct{})
	go func() { _ = s.Serve(l); close(served) }()
	t.Cleanup(func() { _ = s.Close(); <-served })
	return b
}

// Emails returns the received emails.
func (b *Mailbox) Emails() []Email {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.emails)
}

// Arrived receives a value after an email has arrived.
func (b *Mailbox) Arrived() <-chan struct{} { return b.arrived }

// session is one connection to a mailbox.
type session struct {
	box       *Mailbox
	needsUser bool
	email     Email
}

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != User || password != Password {
			return errors.New("wrong user or password")
		}
		s.email.User = user
		return nil
	}), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	if s.needsUser && s.email.User == "" {
		return smtp.ErrAuthRequired
	}
	s.email.From = from
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error { s.email.To = to; return nil }

func (s *session) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	s.email.Text = string(text)
	s.box.mu.Lock()
	s.box.emails = append(s.box.emails, s.email)
	s.box.mu.Unlock()
	select {
	case s.box.arrived <- struct{}{}:
	default:
	}
	return err
}

func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }
