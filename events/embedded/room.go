package embedded

import (
	"context"
	"fmt"
	"strings"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
)

// Shares of the store that an organization's sessions and messages may take, as divisors. They
// leave room for the triggers of the others.
const (
	sessionsShare = 64
	messagesShare = 32
)

// sessions returns how many sessions an organization may have.
func (a *accounts) sessions() int64 {
	if a.store == 0 {
		return maxSessions
	}
	return min(max(a.store/sessionsShare/maxSessionSize, 1), maxSessions)
}

// maxUnread is the maximum size of the messages that an organization's clients have not read
// yet, beyond which the next change waits. The server disconnects a client that reads nothing
// for 10 seconds.
const maxUnread = 64 << 20

// checkUnread returns an error while an organization's clients have not read enough.
func (a *accounts) checkUnread(account *server.Account) error {
	clients, err := a.server.Connz(&server.ConnzOptions{Account: account.Name, Limit: server.DEFAULT_MAX_CONNECTIONS})
	if err != nil {
		return err
	}
	unread := 0
	for _, c := range clients.Conns {
		unread += c.Pending
	}
	if unread > maxUnread {
		return fmt.Errorf("MQTT clients of %s have not read %d bytes, at most %d are allowed", strings.TrimPrefix(account.Name, accountPrefix), unread, maxUnread)
	}
	return nil
}

// makeRoom deletes the older half of an organization's messages for absent clients if its
// messages take their share of the store, and half of that. It reports whether there is room then.
func (a *accounts) makeRoom(org string) (room bool, err error) {
	account, err := a.open(org)
	if err != nil {
		return false, err
	}
	if err := a.checkUnread(account); err != nil {
		return false, err
	}
	share := uint64(a.store) / messagesShare //nolint:gosec // positive
	full := func() bool { return share > 0 && account.JetStreamUsage().Store >= share }
	if !full() {
		return true, nil
	}
	err = a.use(org, func(ctx context.Context, js jetstream.JetStream) error {
		s, err := js.Stream(ctx, messageStream)
		if err != nil {
			return err
		}
		if s.CachedInfo().State.Bytes < share/2 {
			return nil
		}
		a.log.Warn("MQTT messages for absent clients take their share of the store, deleting the older half", "org", org, "messages", s.CachedInfo().State.Msgs)
		return s.Purge(ctx, jetstream.WithPurgeKeep(s.CachedInfo().State.Msgs/2+1)) // 0 would keep none
	})
	return !full(), err
}
