package events

import (
	"crypto/sha256"
	"encoding/base32"
)

// UserAgent is the User-Agent of every webhook.
const UserAgent = "Gridhook/1.0"

// crockford is the alphabet of ULIDs.
var crockford = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// BatchID returns the webhook-id of a request with several messages. It consists of bat_,
// the time part of the first message's identifier, and 80 bits of a hash of all
// identifiers. The same messages always have the same BatchID.
func BatchID(messageIDs []string) string {
	h := sha256.New()
	for _, id := range messageIDs {
		h.Write([]byte(id))
		h.Write([]byte{0})
	}
	id := append(make([]byte, 0, 32), "bat_"...)
	const timeChars = 10 // length of a ULID's time part
	if stamp := messageIDs[0][min(len("msg_"), len(messageIDs[0])):]; len(stamp) > timeChars {
		id = append(id, stamp[:timeChars]...)
	}
	return string(crockford.AppendEncode(id, h.Sum(nil)[:10]))
}

// MessageID returns the webhook-id of a trigger's signal for one home and one endpoint.
// It consists of msg_, the time part of the trigger's identifier, and 80 bits of a hash
// of the three identifiers. So messages sort by time, and repeated calls return the same
// identifier.
func MessageID(triggerID, homeID, endpointID string) string {
	buf := make([]byte, 0, 256)
	buf = append(buf, triggerID...)
	buf = append(buf, 0)
	buf = append(buf, homeID...)
	buf = append(buf, 0)
	buf = append(buf, endpointID...)
	// gofail: var bugRandomID string
	// buf = append(buf, bugRandomID...)
	sum := sha256.Sum256(buf)
	const timeChars = 10 // length of a ULID's time part
	id := append(buf[:0], "msg_"...)
	if stamp := triggerID[min(len("trg_"), len(triggerID)):]; len(stamp) >= timeChars {
		id = append(id, stamp[:timeChars]...)
	}
	return string(crockford.AppendEncode(id, sum[:10]))
}
