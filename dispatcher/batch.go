package dispatcher

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
)

// An endpoint may ask for the signals of several homes in one request. Each is the
// message that it would be alone, with its own identifier, outcome and retries; they
// are together for one request. A batch is of one slice or retry, so that a crash
// repeats no more than without batches.

// bundle is what one request carries: a job, or several of one trigger, endpoint and
// attempt.
type bundle struct {
	jobs    []job
	results []result
	which   []int // in both
	nth     int   // request of the lane, from 0
	// number counts a lane's bundles from 1; 0 is a job that is sent on its own.
	number int
}

func (b *bundle) first() *job { return &b.jobs[b.which[0]] }

// each sets the result of each job.
func (b *bundle) each(do func(j *job) result) {
	for _, i := range b.which {
		b.results[i] = do(&b.jobs[i])
		b.results[i].bundle = b.number
	}
}

// maxBundle bounds the text of a batch, in bytes, and so what a request that hangs
// holds of the worker's memory; itemText is about what an item has beside its curve.
const (
	maxBundle = 512 << 10
	itemText  = 512
)

// size is about how long the job's item of a batch is, in bytes.
func (j *job) size() int {
	if j.format == storage.FormatOpenADR3 {
		return len(j.signal.EncodedOpenADR()) + itemText
	}
	return len(j.signal.Encoded) + itemText
}

// bundleUp parts a lane's places into requests of at most a number of jobs, and of
// at least one.
func bundleUp(jobs []job, places []int, most int) [][]int {
	bundles := make([][]int, 0, len(places)/most+1)
	for len(places) > 0 {
		n, size := 0, 0
		for n < min(most, len(places)) {
			if size += jobs[places[n]].size(); n > 0 && size > maxBundle {
				break
			}
			n++
		}
		bundles, places = append(bundles, places[:n]), places[n:]
	}
	return bundles
}

// id is the webhook-id of a batch.
func (b *bundle) id() string {
	ids := make([]string, len(b.which))
	for n, i := range b.which {
		ids[n] = b.jobs[i].id
	}
	return events.BatchID(ids)
}

// appendBody appends the JSON of a batch.
func (b *bundle) appendBody(dst []byte) []byte {
	size := 0
	for _, i := range b.which {
		size += b.jobs[i].size()
	}
	dst = slices.Grow(dst, size)
	dst = append(dst, `{"type":"`+storage.EventPriceSignalBatch+`","timestamp":"`...)
	dst = b.first().trigger.CreatedAt.UTC().AppendFormat(dst, storage.TimeLayout)
	dst = append(dst, `","data":[`...)
	for n, i := range b.which {
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = b.jobs[i].appendItem(dst)
	}
	return append(dst, "]}"...)
}

// item is what an answer says of one message of a batch.
type item struct {
	WebhookID string `json:"webhookId"`
	Status    int    `json:"status"`
	Reason    string `json:"reason"`
}

// errItems says that what an answer tells of its items cannot be read.
var errItems = errors.New("the results in the answer cannot be read")

// readItems reads what a successful answer says of the messages of its batch. Where
// it is no object, or one without results, it says nothing, and all are delivered.
// What begins as an object and cannot be read may have said that some are not: then
// none is.
func (a *attempt) readItems() {
	body := bytes.TrimSpace(a.body)
	if judge(*a) != delivered || len(body) == 0 || body[0] != '{' {
		return
	}
	var answer struct {
		Results []item `json:"results"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		a.err = fmt.Errorf("%w: %w", errItems, err)
		return
	}
	items := make(map[string]item, len(answer.Results))
	for _, i := range answer.Results {
		if i.WebhookID == "" || i.Status < 100 || i.Status > 599 {
			a.err = fmt.Errorf("%w: each must have a webhookId and a status from 100 to 599", errItems)
			return
		}
		i.Reason = text([]byte(i.Reason[:min(len(i.Reason), keptAnswer)]))
		items[i.WebhookID] = i
	}
	a.items = items
}

// of is the attempt as one message sees it.
func (a *attempt) of(id string) attempt {
	of := *a
	if i, ok := a.items[id]; ok {
		of.status, of.answer, of.item = i.Status, i.Reason, true
	}
	return of
}
