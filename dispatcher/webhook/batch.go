package webhook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing"
	"github.com/gridhook/gridhook/storage"
)

// An endpoint may ask for the signals of several homes in one request. Each item is the
// same message as a single webhook, with its own identifier, outcome and retries. A batch
// never spans slices or retries. So a crash repeats no more messages than it would
// without batches.

// maxBatch limits the text of a batch, in bytes. So it also limits the memory of a
// hanging request. itemText is the approximate size of an item without its curve.
const (
	maxBatch = 512 << 10
	itemText = 512
)

// Size returns the approximate size of the message's item in a batch, in bytes.
func (m *Message) Size() int {
	switch m.Format {
	case storage.FormatOpenADR3:
		return len(m.Signal.EncodedOpenADR()) + itemText
	case storage.FormatThin:
		return itemText
	}
	return len(m.Signal.Encoded) + itemText
}

// Split divides n messages into batches of at most most messages and maxBatch bytes. Each
// batch has at least one message. size returns the size of a message.
func Split(n, most int, size func(i int) int) (lengths []int) {
	for done := 0; done < n; {
		length, text := 0, 0
		for length < min(most, n-done) {
			if text += size(done + length); length > 0 && text > maxBatch {
				break
			}
			length++
		}
		lengths, done = append(lengths, length), done+length
	}
	return lengths
}

// batchID returns the webhook-id of a batch.
func batchID(list []*Message) string {
	ids := make([]string, len(list))
	for i, m := range list {
		ids[i] = m.ID()
	}
	return events.BatchID(ids)
}

// appendBatch appends the JSON of a batch.
func appendBatch(dst []byte, list []*Message) []byte {
	size := 0
	for _, m := range list {
		size += m.Size()
	}
	dst = slices.Grow(dst, size)
	dst = append(dst, `{"type":"`+storage.EventPriceSignalBatch+`","timestamp":"`...)
	dst = pricing.AppendTimestamp(dst, list[0].Trigger.CreatedAt.Time)
	dst = append(dst, `","data":[`...)
	for i, m := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = m.appendItem(dst)
	}
	return append(dst, "]}"...)
}

// Result is a response's result for one message of a batch.
type Result struct {
	WebhookID string `json:"webhookId"`
	Status    int    `json:"status"`
	Reason    string `json:"reason"`
}

// ErrResults says that the results in a response are invalid.
var ErrResults = errors.New("the results in the response cannot be read")

// ReadResults returns the results in the body of a successful response to a batch, by
// webhook-id. A body that is not an object, or an object without results, means that all
// messages are delivered. This includes the beginning of a longer body, as of a receiver
// that echoes the batch. An invalid object with results, or a result of a message that was
// not sent, may have reported failures. So ReadResults returns ErrResults, and no message is
// delivered. An error quotes the body as mask returns it.
func ReadResults(body []byte, sent []*Message, mask func(string) string) (map[string]Result, error) {
	body = bytes.TrimSpace(body)
	if len(body) == 0 || body[0] != '{' || !bytes.Contains(body, []byte(`"results"`)) {
		return nil, nil //nolint:nilnil // a response without results says nothing
	}
	var response struct {
		Results []Result `json:"results"`
	}
	if err := json.Unmarshal(body, &response); err != nil {
		return nil, fmt.Errorf("%w: they must be valid JSON, a list of objects with webhookId and status", ErrResults)
	}
	results := make(map[string]Result, len(response.Results))
	for _, r := range response.Results {
		if r.WebhookID == "" || r.Status < 100 || r.Status > 599 {
			return nil, fmt.Errorf("%w: each must have a webhookId and a status from 100 to 599", ErrResults)
		}
		if !slices.ContainsFunc(sent, func(m *Message) bool { return m.ID() == r.WebhookID }) {
			return nil, fmt.Errorf("%w: the batch has no message with the webhookId %.40q", ErrResults, mask(r.WebhookID))
		}
		results[r.WebhookID] = r
	}
	return results, nil
}
