package webhook

import (
	"fmt"
	"testing"
)

// A response without results confirms all messages.
func TestReadResults_Empty(t *testing.T) {
	for _, body := range []string{"", "ok", "null", "[]", `"{"`, "{}", `{"ok":true}`, `{"results":[]}`, `{"results":null}`, `{"results":[{"webhookId":"another","status":500}]}`,
		`{ok}`, `{"type":"price_signal.batch","data":[{"webhookId":"msg_1",`, // an echo of the batch that is cut at the limit of a response
	} {
		results, err := ReadResults([]byte(body))
		if _, told := results["msg_1"]; err != nil || told {
			t.Errorf("%q is read as %v, %v", body, results, err)
		}
	}
}

// A batch has limits of bytes and messages, and at least one message.
func TestSplit_Bounds(t *testing.T) {
	sizes := []int{10, 2 * maxBatch, 10, maxBatch / 2, maxBatch / 2, 10, 10, 10, 10}
	got := Split(len(sizes), 3, func(i int) int { return sizes[i] + itemText })
	if fmt.Sprint(got) != "[1 1 2 3 2]" {
		t.Errorf("the batches have %v messages", got)
	}
}
