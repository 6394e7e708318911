package channel

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/wneessen/go-mail"

	"github.com/gridhook/gridhook/events"
)

// Mail configures the operator's SMTP server. A nil Server disables email.
type Mail struct {
	// Server is smtp://user:password@host:port with STARTTLS, smtps:// with TLS from the
	// start, or smtp:// with the query tls=none.
	Server *url.URL
	// From is the sender's address.
	From string
	// Roots are the trusted certificate authorities, nil for the system's.
	Roots *x509.CertPool
	// Dial replaces the dialer in tests.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// send sends one email. id identifies the message, so that a receiver can recognize a
// repeated message.
func (o Mail) send(ctx context.Context, to, id string, m *events.Message) error {
	client, err := mail.NewClient(o.Server.Hostname(), o.options()...)
	if err != nil {
		return err
	}
	email := mail.NewMsg(mail.WithNoDefaultUserAgent())
	if err := email.From(o.From); err != nil {
		return err
	}
	if err := email.To(to); err != nil {
		return err
	}
	email.Subject("[Gridhook] " + m.Title)
	email.SetMessageIDWithValue(id + "@" + o.Server.Hostname())
	email.SetGenHeader("Auto-Submitted", "auto-generated")
	email.SetBodyString(mail.TypeTextPlain, m.Text+"\n")
	err = client.DialAndSendWithContext(ctx, email)
	if email.IsDelivered() { // the server has it, however the connection ends
		return nil
	}
	return err
}

func (o Mail) options() []mail.Option {
	options := []mail.Option{
		mail.WithTimeout(timeout), mail.WithTLSPolicy(mail.TLSMandatory), mail.WithoutNoop(),
		mail.WithTLSConfig(&tls.Config{MinVersion: tls.VersionTLS12, ServerName: o.Server.Hostname(), RootCAs: o.Roots}),
	}
	port := 587
	switch {
	case o.Server.Scheme == "smtps":
		options, port = append(options, mail.WithSSL()), 465
	case o.Server.Query().Get("tls") == "none":
		options, port = append(options, mail.WithTLSPolicy(mail.NoTLS)), 25
	}
	if given, err := strconv.Atoi(o.Server.Port()); err == nil {
		port = given
	}
	options = append(options, mail.WithPort(port))
	if o.Dial != nil {
		options = append(options, mail.WithDialContextFunc(o.Dial))
	}
	if user := o.Server.User; user != nil {
		password, _ := user.Password()
		options = append(options, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover), mail.WithUsername(user.Username()), mail.WithPassword(password))
	}
	return options
}

// oneLine returns an error's text without line breaks.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
