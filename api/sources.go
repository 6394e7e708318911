package api

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/api/wire"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/pricing/feed"
	"github.com/gridhook/gridhook/storage"
)

// Sources fetches the data of a source without storing it. See package sources.
type Sources interface {
	Check(ctx context.Context, source storage.Source) (events.SourceCheck, error)
}

// sourceRoutes are the operations on sources.
var sourceRoutes = []operation{
	do(rest.Route{
		Path: "/v1/admin/sources/create", Name: "createSource", Role: storage.RoleOperate, Checks: true,
		Summary: "Create a source, which fetches prices, alerts or a tariff regularly",
		Description: "The first fetch follows at once. All prices of a fetch are stored or none. " +
			"Schedules with onPriceChange then send the signals of the affected homes.",
	}, (*server).createSource),
	do(rest.Route{Path: "/v1/admin/sources/list", Name: "listSources", Role: storage.RoleRead, Summary: "List an organization's sources, or the shared sources"}, (*server).listSources),
	do(rest.Route{Path: "/v1/admin/sources/{id}/get", Name: "getSource", Role: storage.RoleRead, Summary: "Get a source with the log of its runs"}, (*server).getSource),
	do(rest.Route{
		Path: "/v1/admin/sources/{id}/update", Name: "updateSource", Role: storage.RoleOperate, Checks: true, Partial: true,
		Summary:     "Update, pause or resume a source",
		Description: "Absent fields keep their values. The changed source fetches at once.",
	}, (*server).updateSource),
	do(rest.Route{
		Path: "/v1/admin/sources/{id}/delete", Name: "deleteSource", Role: storage.RoleOperate,
		Summary:     "Delete a source",
		Description: "The prices, plans and events that it has stored stay.",
	}, deleteOf[wire.PlanOwner](storage.KindSource)),
	do(rest.Route{Path: "/v1/admin/sources/{id}/run", Name: "runSource", Role: storage.RoleOperate, Summary: "Fetch now instead of at the next time"}, (*server).runSource),
	do(rest.Route{
		Path: "/v1/admin/sources/{id}/check", Name: "checkSource", Role: storage.RoleOperate, Unaudited: true, Timeout: checkSourceTimeout, Errors: []string{rest.CodeUnavailable},
		Summary:     "Fetch once and show what a run would store, without storing it",
		Description: "A failed fetch has the outcome FAILED and its error.",
	}, (*server).checkSource),
	do(rest.Route{
		Path: "/v1/admin/sources/adapters/list", Name: "listSourceAdapters", Role: storage.RoleRead,
		Summary: "List the adapters of sources with their parameters",
	}, (*server).listSourceAdapters),
}

// checkSourceTimeout is the timeout of a fetch plus an allowance for the rest of the
// operation.
const checkSourceTimeout = 70 * time.Second

// showSource shows a source with its state.
func showSource(v storage.View, s *storage.Source, revision uint64, now time.Time) (wire.SourceWithRuns, error) {
	state, err := storage.ReadSourceState(v, s, revision)
	if storage.NoRecord(err) { // the next run replaces the state
		err = nil
	}
	shown := wire.Source{
		ID: s.ID, OrganizationID: rest.UnlessShared(s.OrganizationID), SourceSettings: s.SourceSettings, CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt,
		SourceProgress: state.SourceProgress, Late: state.Late(s, now),
	}
	shown.URL = storage.MaskURL(s.URL)
	if !s.Enabled {
		shown.NextRunAt = storage.Time{}
	}
	return wire.SourceWithRuns{Source: shown, Runs: append([]storage.SourceRun{}, state.Runs...)}, err
}

// source returns a stored source as it is shown.
func (s *server) source(c *rest.Call, ref storage.Ref) (shown wire.SourceWithRuns, err error) {
	err = s.Store.View(func(v storage.View) error {
		source, revision, err := storage.Read[storage.Source](v, ref)
		if err == nil {
			shown, err = showSource(v, &source, revision, c.Now)
		}
		return err
	})
	return shown, err
}

// setSource applies settings to a source, checks the addresses by the operator's policy and
// seals the secrets. before is the source before the change, empty for a new source.
func (s *server) setSource(in *storage.SourceSettings, source, before *storage.Source, p *rest.FieldErrors) error {
	had := *before
	if err := s.Vault.OpenSource(&had); err != nil {
		return err
	}
	source.SourceSettings = *in
	rest.UnmaskURL(&source.URL, had.URL, "url", p)
	if source.Secret == storage.Masked {
		source.Secret = had.Secret
		p.Check(had.Secret != "", "secret", "requires the secret: %s keeps only the stored secret", storage.Masked)
		// Otherwise, a caller who may change the source could redirect the stored secret to
		// a host of the caller's choice.
		p.Check(had.Secret == "" || receiver(source) == receiver(before), "secret",
			"is required because the adapter, the host of url or the parameter tokenUrl changes")
	}
	source.SetDefaults()
	source.Check(p)
	if err := s.checkDestination("url", source.URL, p); err != nil {
		return err
	}
	if err := s.checkDestination("parameters."+storage.TokenURL, source.Parameters[storage.TokenURL], p); err != nil {
		return err
	}
	return s.Vault.SealSource(source, before)
}

// receiver says where a source sends its secret.
func receiver(s *storage.Source) [3]string {
	adapter, _ := feed.ByName(s.Adapter)
	return [3]string{s.Adapter, origin(cmp.Or(s.URL, adapter.URL)), s.Parameters[storage.TokenURL]}
}

type createSourceInput struct {
	_ struct{} `required:"adapter"`

	wire.PlanOwner
	ID string `json:"id,omitempty" pattern:"id" doc:"The identifier of the source. By default the service chooses one." example:"np15"`
	storage.SourceSettings
}

func (in *createSourceInput) setDefaults() { in.Parameters, in.Enabled = map[string]string{}, true }

func (s *server) createSource(ctx context.Context, c *rest.Call, in *createSourceInput) (wire.SourceWithRuns, error) {
	source := storage.Source{ID: cmp.Or(in.ID, storage.NewID("src_", c.Now)), Base: storage.Base{OrganizationID: in.Owner()}}
	err := s.setSource(&in.SourceSettings, &source, &storage.Source{}, &c.Wrong)
	if err == nil {
		err = s.create(ctx, c, &source)
	}
	if err != nil {
		return wire.SourceWithRuns{}, err
	}
	s.fetchNow(ctx, &source)
	return s.source(c, source.Ref())
}

// updateSourceInput has the settings to change. An absent field keeps its value.
type updateSourceInput struct {
	wire.PlanOwner
	storage.SourceSettings
}

func (s *server) updateSource(ctx context.Context, c *rest.Call, in *updateSourceInput) (wire.SourceWithRuns, error) {
	source, err := update(ctx, s, c, storage.KindSource.Ref(in.Owner(), c.ID), func(source *storage.Source, p *rest.FieldErrors) error {
		before, settings := *source, over(s, c, updateSourceInput{SourceSettings: source.SourceSettings})
		return s.setSource(&settings.SourceSettings, source, &before, p)
	})
	if err != nil {
		return wire.SourceWithRuns{}, err
	}
	s.fetchNow(ctx, &source)
	return s.source(c, source.Ref())
}

func (s *server) listSources(ctx context.Context, c *rest.Call, in *wire.ListPlansInput) (wire.Page[wire.Source], error) {
	return page(ctx, s, c, storage.KindSource, in.Owner(), in.PageInput, func(v storage.View, stored *storage.Source) (wire.Source, error) {
		record, err := v.Get(stored.Ref())
		if err != nil {
			return wire.Source{}, err
		}
		shown, err := showSource(v, stored, record.Revision, c.Now)
		return shown.Source, err
	})
}

func (s *server) getSource(_ context.Context, c *rest.Call, in *wire.PlanOwner) (wire.SourceWithRuns, error) {
	return s.source(c, storage.KindSource.Ref(in.Owner(), c.ID))
}

var errPausedSource = rest.NewProblem(rest.CodeConflict, "The source is paused.", "Resume the source, or check it.")

func (s *server) runSource(ctx context.Context, c *rest.Call, in *wire.PlanOwner) (wire.SourceWithRuns, error) {
	ref := storage.KindSource.Ref(in.Owner(), c.ID)
	if err := s.putSourceTask(ctx, ref, c.Now); err != nil {
		return wire.SourceWithRuns{}, err
	}
	return s.source(c, ref)
}

// putSourceTask puts a run of a source. Errors: errPausedSource.
func (s *server) putSourceTask(ctx context.Context, ref storage.Ref, due time.Time) error {
	source, revision, err := storage.GetRevision[storage.Source](s.Store, ref)
	switch {
	case err != nil:
		return err
	case !source.Enabled:
		return errPausedSource
	}
	return s.Tasks.PutTask(ctx, events.TaskOf(source.Ref(), revision, due))
}

// fetchNow puts the first run of a changed source. If it fails, a runner puts the same
// run.
func (s *server) fetchNow(ctx context.Context, source *storage.Source) {
	if err := s.putSourceTask(ctx, source.Ref(), source.UpdatedAt.Time); err != nil && !errors.Is(err, errPausedSource) {
		s.Log.Warn("next run not scheduled, a runner retries", "source", source.ID, "org", source.OrganizationID, "error", err)
	}
}

func (s *server) checkSource(ctx context.Context, c *rest.Call, in *wire.PlanOwner) (events.SourceCheck, error) {
	source, err := storage.Get[storage.Source](s.Store, storage.KindSource.Ref(in.Owner(), c.ID))
	if err != nil {
		return events.SourceCheck{}, err
	}
	return s.Sources.Check(ctx, source)
}

func (s *server) listSourceAdapters(context.Context, *rest.Call, *struct{}) (wire.List[wire.SourceAdapter], error) {
	list := wire.List[wire.SourceAdapter]{Data: []wire.SourceAdapter{}}
	for _, a := range feed.Adapters() {
		var defaults storage.Source
		defaults.Adapter = a.Name
		defaults.SetDefaults()
		shown := wire.SourceAdapter{
			Name: a.Name, Title: a.Title, Doc: a.Doc, URL: a.URL, EverySeconds: defaults.EverySeconds, Timezone: defaults.Timezone, Secret: a.Secret,
			Parameters: append([]feed.Parameter{}, a.Parameters...),
		}
		for i := range shown.Parameters { // no null in JSON
			shown.Parameters[i].Values = append([]string{}, shown.Parameters[i].Values...)
		}
		list.Data = append(list.Data, shown)
	}
	return list, nil
}
