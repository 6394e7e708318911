package webhook

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// A response without results confirms all messages.
func TestReadResults_Empty(t *testing.T) {
	for _, body := range []string{"", "ok", "null", "[]", `"{"`, "{}", `{"ok":true}`, `{"results":[]}`, `{"results":null}`,
		`{ok}`, `"results"`, `[{"results":[{"webhookId":"msg_1","status":500}]}]`, `{"type":"price_signal.batch","data":[{"webhookId":"msg_1",`, // an echo of the batch that is cut at the limit of a response
	} {
		results, err := ReadResults([]byte(body), []*Message{{id: "msg_1"}}, strings.ToUpper)
		if _, told := results["msg_1"]; err != nil || told {
			t.Errorf("%q is read as %v, %v", body, results, err)
		}
	}
}

// A result may have any status of HTTP, and the response any space around its JSON.
func TestReadResults_Statuses(t *testing.T) {
	for _, status := range []int{100, 200, 500, 599} {
		body := fmt.Sprintf(" \r\n\t"+`{"results":[{"webhookId":"msg_1","status":%d,"reason":"why"}]}`+"\n", status)
		results, err := ReadResults([]byte(body), []*Message{{id: "msg_2"}, {id: "msg_1"}}, strings.ToUpper)
		if got := results["msg_1"]; err != nil || len(results) != 1 || got.Status != status || got.Reason != "why" {
			t.Errorf("%q is read as %v, %v", body, results, err)
		}
	}
}

// A result that does not belong to the batch may be about one of its messages, so none is
// delivered.
func TestReadResults_Invalid(t *testing.T) {
	for _, result := range []string{`{"webhookId":"another","status":500}`, `{"webhookId":1,"status":500}`, `{"webhookId":"msg_1","status":99}`, `{"webhookId":"msg_1","status":600}`, `{"status":500}`, `{"webhookId":"msg_1"`} {
		results, err := ReadResults([]byte(`{"results":[{"webhookId":"msg_1","status":200},`+result+`]}`), []*Message{{id: "msg_1"}}, strings.ToUpper)
		if !errors.Is(err, ErrResults) || strings.Contains(err.Error(), "Go struct") {
			t.Errorf("%s is read as %v, %v", result, results, err)
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
