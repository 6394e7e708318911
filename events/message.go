package events

import (
	"crypto/sha256"
	"encoding/base32"
)

// crockford is the alphabet of ULIDs.
var crockford = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// BatchID is the webhook-id of a request that carries several messages: bat_, the time
// part of the first, and 80 bits of a hash of all. The same messages together have the
// same identifier.
func BatchID(messageIDs []string) string {
	h := sha256.New()
	for _, id := range messageIDs {
		h.Write([]byte(id))
		h.Write([]byte{0})
	}
	id := append(make([]byte, 0, 32), "bat_"...)
	const timeChars = 10 // of a ULID
	if stamp := messageIDs[0][min(len("msg_"), len(messageIDs[0])):]; len(stamp) > timeChars {
		id = append(id, stamp[:timeChars]...)
	}
	return string(crockford.AppendEncode(id, h.Sum(nil)[:10]))
}

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
