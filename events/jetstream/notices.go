package jetstream

import (
	"context"

	"github.com/gridhook/gridhook/events"
)

// Each notice has its own subject, so that a repeated notice finds the first.
const (
	noticesStream = "GRIDHOOK_NOTICES"
	noticePrefix  = "gridhook.notices."
)

var noticeQueue = queue{stream: noticesStream, name: "tellers", filter: noticePrefix + ">"}

// PutNotice stores a notice and returns when it is durable. fresh is false if the notice
// was already stored.
func (c *Conn) PutNotice(ctx context.Context, n events.Notice) (fresh bool, err error) {
	return c.publishNew(ctx, noticePrefix+n.OrganizationID+"."+n.ID, n)
}

var _ events.NoticeLog = (*Conn)(nil)

// ConsumeNotices calls handle for notices. See consume.
func (c *Conn) ConsumeNotices(ctx, taking context.Context, slots int, handle events.Handler[events.Notice]) error {
	return consume(ctx, taking, c, noticeQueue, slots, fromJSON[events.Notice], handle)
}
