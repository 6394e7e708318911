package storage

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gridhook/gridhook/pricing/feed"
)

// SourceSettings are the settings of a source.
type SourceSettings struct {
	Adapter      string            `json:"adapter" minLength:"1" maxLength:"64" nullable:"false" doc:"The adapter, which knows the format of the data. See listSourceAdapters." example:"caiso"`
	URL          string            `json:"url" maxLength:"2048" nullable:"false" doc:"The address to ask. If it is empty, the source asks the address of the adapter. The rules for the url of an endpoint apply. Its query is stored encrypted and shown as ********." example:""`
	Parameters   map[string]string `json:"parameters" nullable:"false" doc:"The parameters of the adapter." example:"{\"node\":\"TH_NP15_GEN-APND\"}"`
	Secret       string            `json:"secret" maxLength:"4096" nullable:"false" doc:"The secret that the adapter needs, such as a subscription key. It is stored encrypted and shown as ********. Sending ******** keeps the stored secret." example:""`
	EverySeconds int               `json:"everySeconds" minimum:"60" maximum:"604800" doc:"The interval between two fetches. By default the interval of the adapter." example:"3600"`
	Timezone     string            `json:"timezone" doc:"The time zone of the prices' days. By default the time zone of the adapter." example:"America/Los_Angeles"`
	PlanID       string            `json:"planId" pattern:"idOrEmpty" nullable:"false" doc:"The rate plan that the source feeds. If the plan does not exist, fetched prices create a plan that passes them through. A tariff replaces the plan's tariff. Alerts become events of the plan." example:"caiso-np15"`
	Description  string            `json:"description" maxLength:"500" example:"day-ahead prices of NP15"`
	Enabled      bool              `json:"enabled" doc:"Whether the source fetches. false pauses it." example:"true"`
}

// Source is a stored, scheduled fetch of prices, alerts or a tariff. A source belongs to
// one organization or, as Shared, to all of them, like the prices that it fetches. Secret
// and the query of URL are masked: see package vault.
type Source struct {
	ID string `json:"id"`
	SourceSettings
	SealedSecret string `json:"sealedSecret,omitempty"`
	// SealedURL is the whole URL, empty if the URL has no query.
	SealedURL string `json:"sealedUrl,omitempty"`
	Base
}

// Ref names the source.
func (s *Source) Ref() Ref { return KindSource.Ref(s.OrganizationID, s.ID) }

// Every returns the interval between two fetches.
func (s *Source) Every() time.Duration { return time.Duration(s.EverySeconds) * time.Second }

// TokenURL is the parameter with the address of the token service, of adapters that ask for
// a token.
const TokenURL = "tokenUrl"

// minEvery is the shortest interval between two fetches.
const minEvery = time.Minute

// Check adds every wrong field, with the parameters that the adapter defines.
func (s *Source) Check(p *Problems) {
	if s.URL != "" {
		checkURL(p, "url", s.URL)
	}
	if token := s.Parameters[TokenURL]; token != "" {
		checkURL(p, "parameters."+TokenURL, token)
	}
	checkLocation(p, s.Timezone)
	if a, ok := feed.ByName(s.Adapter); ok {
		s.checkAdapter(p, &a)
	} else {
		p.Addf("adapter", "must be one of %s", strings.Join(feed.Names(), ", "))
	}
}

// SetDefaults sets the interval and the time zone of a source from its adapter, if they
// are missing.
func (s *Source) SetDefaults() {
	a, _ := feed.ByName(s.Adapter)
	s.EverySeconds = cmp.Or(s.EverySeconds, int(max(a.Interval(s.Parameters), minEvery)/time.Second))
	s.Timezone = cmp.Or(s.Timezone, a.Timezone, "UTC")
}

// checkAdapter checks the fields whose meaning the adapter defines.
func (s *Source) checkAdapter(p *Problems, a *feed.Adapter) {
	var wrong Problems
	names := make([]string, len(a.Parameters))
	for i, known := range a.Parameters {
		names[i] = known.Name
		field, value := "parameters."+known.Name, s.Parameters[known.Name]
		wrong.Check(value != "" || !known.Required, field, "is required: %s", known.Doc)
		if value != "" && known.Values != nil {
			checkEnum(&wrong, field, value, known.Values...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Parameters)) {
		wrong.Check(slices.Contains(names, name), "parameters."+name, "is not a parameter of the adapter %s: use %s", a.Name, strings.Join(names, ", "))
	}
	wrong.Check(s.URL != "" || a.URL != "", "url", "is required by the adapter %s", a.Name)
	wrong.Check(s.Secret == "" || a.Secret != "", "secret", "is not used by the adapter %s", a.Name)
	wrong.Check(s.PlanID == "" || !feed.Emits(s.Parameters), "planId", "must be left out, because emissions belong to a grid region")
	if wrong.Err() == nil {
		day := time.Date(2026, time.July, 1, 0, 0, 0, 0, s.Location())
		if _, err := a.Requests(s.Query(a, day, day.AddDate(0, 0, 1))); err != nil {
			wrong.Addf("parameters", "%v", err)
		}
	}
	p.Add(wrong.List())
}

// Query returns the query for the prices between two midnights. The secret must be in the
// clear.
func (s *Source) Query(a *feed.Adapter, from, to time.Time) *feed.Query {
	return &feed.Query{
		URL: cmp.Or(s.URL, a.URL), Parameters: s.Parameters, Secret: s.Secret, Location: s.Location(), From: from, To: to,
	}
}

// Location returns the source's time zone, UTC if it is invalid.
func (s *Source) Location() *time.Location {
	if l, ok := Location(s.Timezone); ok {
		return l
	}
	return time.UTC
}

// feed identifies the prices that a source fetches by the settings that determine them.
func (s *Source) feed() string {
	settings := fmt.Sprintf("%q %q %q %q", s.Adapter, cmp.Or(s.SealedURL, s.URL), s.Parameters, s.Timezone) // fmt sorts the parameters
	return Hash(settings, 8)
}

// SourceOutcome is the result of a source's run.
type SourceOutcome string

// The outcomes.
const (
	// SourceStored means that the fetched data changed something.
	SourceStored SourceOutcome = "STORED"
	// SourceUnchanged means that the fetched data was stored already.
	SourceUnchanged SourceOutcome = "UNCHANGED"
	// SourceFailed means that nothing of the fetch was stored.
	SourceFailed SourceOutcome = "FAILED"
)

// SourceRun is one run in the log of a source.
type SourceRun struct {
	At       Time          `json:"at"`
	Outcome  SourceOutcome `json:"outcome" example:"STORED"`
	Error    string        `json:"error,omitempty" doc:"Why the run failed." example:"GET oasis.caiso.com: 503 Service Unavailable"`
	Requests int           `json:"requests" doc:"The number of requests." example:"2"`
	Added    int           `json:"added" doc:"The number of new prices." example:"24"`
	Changed  int           `json:"changed" doc:"The number of prices with another value than before." example:"0"`
	Events   int           `json:"events" doc:"The number of plan events that the run added, changed or removed." example:"0"`
	Tariff   bool          `json:"tariff" doc:"Whether the run changed a rate plan." example:"false"`
	Seconds  float64       `json:"seconds" doc:"The duration of the run." example:"0.8"`
}

// SourceProgress has the times of a source's runs, and the end of its prices.
type SourceProgress struct {
	LastRunAt  Time `json:"lastRunAt" nullable:"true" doc:"null if the source has not run since its last change."`
	LastGoodAt Time `json:"lastGoodAt" nullable:"true" doc:"When a run last succeeded, null if none has since the last change."`
	NextRunAt  Time `json:"nextRunAt" nullable:"true" doc:"null if the source is paused."`
	DataEnd    Time `json:"dataEnd" nullable:"true" doc:"The end of the newest fetched price, null if there is none."`
	Failures   int  `json:"failures" doc:"The number of failed runs since the last good run." example:"0"`
}

// SourceState is what a source's runs have found. It belongs to one revision of the
// source: a changed source starts anew. But DataEnd and Series stay for the same Feed.
type SourceState struct {
	ID       string `json:"id"`
	Revision uint64 `json:"revision"`
	// Feed identifies the prices that the source fetches.
	Feed string `json:"feed"`
	// DueAt is the due time of the last run. A redelivered task with that time has run.
	DueAt Time `json:"dueAt"`
	SourceProgress
	// Series are the identifiers of the series that the last fetched prices belong to, at
	// most MaxSourceSeries.
	Series []string `json:"series,omitempty"`
	// Validators make the next request conditional.
	Validators SourceValidators `json:"validators"`
	// Runs are the last runs, the newest first.
	Runs []SourceRun `json:"runs"`
	Base
}

// SourceValidators are the ETag and Last-Modified of a response. Request identifies the
// request and the days that it asks for, because validators are of one URL, and a run
// reads only those days of the response.
type SourceValidators struct {
	Request      string `json:"request,omitempty"`
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"lastModified,omitempty"`
}

// Ref names the state by its source.
func (s *SourceState) Ref() Ref { return KindSourceState.Ref(s.OrganizationID, s.ID) }

// maxSourceRuns is the number of runs in the log of a source.
const maxSourceRuns = 20

// MaxSourceSeries is the number of series that the state of a source names.
const MaxSourceSeries = 100

// Lacks reports whether a series of the source was deleted. Its prices must then be fetched
// as for a new source.
func (s *SourceState) Lacks(v View) (bool, error) {
	for _, id := range s.Series {
		r, err := v.Get(KindMarketSeries.Ref(s.OrganizationID, id))
		if r.Deleted || err != nil {
			return IgnoreNotFound(err) == nil, IgnoreNotFound(err)
		}
	}
	return false, nil
}

// Record adds a run to the log.
func (s *SourceState) Record(run SourceRun) {
	s.LastRunAt = run.At
	if run.Outcome == SourceFailed {
		s.Failures++
	} else {
		s.Failures, s.LastGoodAt = 0, run.At
	}
	s.Runs = slices.Insert(s.Runs, 0, run)
	s.Runs = s.Runs[:min(len(s.Runs), maxSourceRuns)]
}

// Late reports whether the source has had no good run for two intervals, or no new price
// for a day more. A source that was changed has that time for its next run.
func (s *SourceState) Late(source *Source, now time.Time) bool {
	tolerated := 2 * source.Every()
	noPrice := !s.DataEnd.IsZero() && now.Sub(s.DataEnd.Time) > tolerated+24*time.Hour && s.GoodSince(source).Equal(s.LastGoodAt.Time)
	return source.Enabled && (now.Sub(s.GoodSince(source)) > tolerated || noPrice)
}

// GoodSince returns the time of the last good run, or of the source's last change if that
// is later.
func (s *SourceState) GoodSince(source *Source) time.Time {
	return Later(source.UpdatedAt.Time, s.LastGoodAt.Time)
}

// ReadSourceState returns the state of a revision of a source, and its own revision. A
// source without a run has an empty state, and so has, with a *DecodeError, one whose state
// does not decode.
func ReadSourceState(v View, source *Source, revision uint64) (SourceState, error) {
	ref := KindSourceState.Ref(source.OrganizationID, source.ID)
	s, _, err := Read[SourceState](v, ref)
	if err = IgnoreNotFound(err); err != nil {
		s, err = SourceState{}, fmt.Errorf("state of the source: %w", err)
	}
	fetches := source.feed()
	if s.Revision != revision {
		if s.Feed != fetches {
			s.DataEnd, s.Series = Time{}, nil
		}
		s = SourceState{ID: source.ID, Revision: revision, SourceProgress: SourceProgress{DataEnd: s.DataEnd}, Series: s.Series, Runs: s.Runs, Base: Base{OrganizationID: source.OrganizationID}}
	}
	s.Feed = fetches
	if s.NextRunAt.IsZero() {
		s.NextRunAt = source.UpdatedAt
	}
	return s, err
}
