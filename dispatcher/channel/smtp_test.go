package channel_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"github.com/gridhook/gridhook/dispatcher/channel"
)

// mailbox is an SMTP server that stores the emails of a user.
type mailbox struct {
	address string
	roots   *x509.CertPool

	mu     sync.Mutex
	emails []email
}

// email is a received email.
type email struct{ from, to, user, text string }

const (
	smtpUser     = "gridhook"
	smtpPassword = "p@ss:word/1"
)

// newMailbox starts an SMTP server on the loopback. It requires TLS: from the start, or
// with STARTTLS. Without a certificate it has no TLS and no users.
func newMailbox(t *testing.T, fromStart, withTLS bool) *mailbox {
	t.Helper()
	web := httptest.NewTLSServer(nil) // for its certificate
	web.Close()
	b := &mailbox{roots: x509.NewCertPool()}
	b.roots.AddCert(web.Certificate())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b.address = l.Addr().String()
	s := smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) {
		return &session{box: b, needsUser: withTLS}, nil
	}))
	s.Domain, s.ReadTimeout, s.WriteTimeout = "mail.example", 10*time.Second, 10*time.Second
	if withTLS {
		s.TLSConfig = &tls.Config{Certificates: web.TLS.Certificates}
	}
	if fromStart {
		l = tls.NewListener(l, s.TLSConfig)
	}
	served := make(chan struct{})
	go func() { _ = s.Serve(l); close(served) }()
	t.Cleanup(func() { _ = s.Close(); <-served })
	return b
}

// mail returns the options that send through the server.
func (b *mailbox) mail(t *testing.T, scheme, query string, user *url.Userinfo) channel.Mail {
	t.Helper()
	return channel.Mail{Server: &url.URL{Scheme: scheme, Host: b.address, User: user, RawQuery: query}, From: "gridhook@operator.example", Roots: b.roots}
}

func (b *mailbox) got() []email {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.emails
}

// session is one connection to a mailbox.
type session struct {
	box       *mailbox
	needsUser bool
	email     email
}

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user != smtpUser || password != smtpPassword {
			return errors.New("wrong user or password")
		}
		s.email.user = user
		return nil
	}), nil
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	if s.needsUser && s.email.user == "" {
		return smtp.ErrAuthRequired
	}
	s.email.from = from
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error { s.email.to = to; return nil }

func (s *session) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	s.email.text = string(text)
	s.box.mu.Lock()
	defer s.box.mu.Unlock()
	s.box.emails = append(s.box.emails, s.email)
	return err
}

func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }
