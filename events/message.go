package events

import (
	"crypto/sha256"
	"encoding/base32"
)

// crockford is the alphabet of ULIDs.
var crockford = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// MessageID is the webhook-id of a trigger's signal of one home for one endpoint:
// msg_, the time part of the trigger's identifier, so that messages sort by time,
// and 80 bits of a hash of the three. Whoever makes the message again makes the
// same identifier.
func MessageID(triggerID, homeID, endpointID string) string {
	buf := make([]byte, 0, 256)
	buf = append(buf, triggerID...)
	buf = append(buf, 0)
	buf = append(buf, homeID...)
	buf = append(buf, 0)
	buf = append(buf, endpointID...)
	sum := sha256.Sum256(buf)
	const timeChars = 10 // of a ULID
	id := append(buf[:0], "msg_"...)
	if stamp := triggerID[min(len("trg_"), len(triggerID)):]; len(stamp) >= timeChars {
		id = append(id, stamp[:timeChars]...)
	}
	return string(crockford.AppendEncode(id, sum[:10]))
}
