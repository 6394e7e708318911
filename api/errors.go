package api

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gridhook/gridhook/api/rest"
	"github.com/gridhook/gridhook/events"
	"github.com/gridhook/gridhook/storage"
	"github.com/gridhook/gridhook/storage/signals"
)

// explainError returns the problem for an error that is specific to this package's
// operations. It returns nil for every other error.
func explainError(err error) *rest.Problem {
	var (
		unpriceable *signals.Unpriceable
		unusable    *signals.HomeError
		transition  *storage.TransitionError
		limit       *storage.LimitError
		quota       *events.QuotaError
		erased      *storage.ErasedError
		inUse       *storage.PlanInUseError
	)
	switch {
	case errors.As(err, &unpriceable):
		return rest.Validation([]storage.FieldError{{Field: unpriceable.Field, Message: unpriceable.Reason}})
	case errors.As(err, &unusable): // a fault of the server, so that the log has the cause
		return rest.NewProblem(rest.CodeInternal, "The home cannot be priced: "+unusable.Reason+".", "Send the data again that the message names. If the error persists, report the request_id.")
	case errors.As(err, &transition):
		message := transition.Error()
		return rest.NewProblem(rest.CodeConflict, strings.ToUpper(message[:1])+message[1:]+".", "Get the onboarding's status, and send an operation that it allows.")
	case errors.As(err, &limit):
		if limit.Setting == "" {
			return rest.NewProblem(rest.CodeConflict, fmt.Sprintf("The organization has %d of kind %s, which is the limit.", limit.Max, limit.Kind),
				"Wait until an earlier one has passed its retention.")
		}
		return rest.NewProblem(rest.CodeConflict, fmt.Sprintf("The organization has reached the limit %s: %s.", limit.Setting, limit.Amount()),
			"Delete an unused resource, or ask the operator to raise the limit.")
	case errors.As(err, &quota):
		return rest.NewProblem(rest.CodeRateLimited, fmt.Sprintf("The organization's triggers have reached the limit %s: %d of %d.", quota.Setting, quota.Used, quota.Max),
			"Wait until earlier triggers are completed or past their retention, or ask the operator to raise the limit.").After(quotaRetry)
	case errors.As(err, &erased):
		message := erased.Error()
		return rest.NewProblem(rest.CodeConflict, strings.ToUpper(message[:1])+message[1:]+".", "Use another identifier.")
	case errors.As(err, &inUse):
		return rest.NewProblem(rest.CodeConflict, fmt.Sprintf("The plan %q is a part of the plan %q.", inUse.Plan.ID, inUse.By.ID),
			"Delete the composed plan first, or import it without the part.")
	case errors.Is(err, storage.ErrNotErasable):
		return errNotErasable
	}
	return nil
}

var errNotErasable = rest.NewProblem(rest.CodeConflict,
	"An earlier version created the stream, which refuses to overwrite records: they are still there. A deleted organization is hidden all the same.",
	"Restore a backup into new streams, and send the request again.")

// quotaRetry is the delay in seconds before retrying a trigger that exceeded a quota.
const quotaRetry = 60

// Problems returns all problems that a caller may see, at least one of each code.
func Problems() []*rest.Problem { return append(rest.Problems(), errKeyEnded) }
