package storage

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
)

// FeedbackType is the topic of a submission.
type FeedbackType string

// Environment is the environment that a submission refers to.
type Environment string

// SubmitterKind is the kind of a submitter.
type SubmitterKind string

// ContactMethod is a submitter's preferred way to get an answer.
type ContactMethod string

// The contact methods.
const (
	ContactEmail ContactMethod = "email"
	ContactNone  ContactMethod = "none"
)

// FeedbackForm holds the fields of a submission. Only the type, the summary and the
// message are required.
type FeedbackForm struct {
	Name             string       `json:"name,omitempty" maxLength:"255" example:"Ada"`
	Company          string       `json:"company,omitempty" maxLength:"255" example:"Partner Inc."`
	Type             FeedbackType `json:"feedback_type"`
	Summary          string       `json:"summary" minLength:"1" maxLength:"255" example:"How are clock changes shown?"`
	Message          string       `json:"message" minLength:"1" maxLength:"4000" example:"Does a day have 92 intervals then?"`
	Page             string       `json:"page,omitempty" maxLength:"2048" doc:"The reference page of the feedback." example:"price-signal"`
	Endpoint         string       `json:"endpoint,omitempty" maxLength:"500" doc:"The path of the operation of the feedback." example:"/v1/homes/{id}/price_signal"`
	Environment      Environment  `json:"environment,omitempty" doc:"The environment of the feedback."`
	StepsToReproduce string       `json:"steps_to_reproduce,omitempty" maxLength:"4000"`
	ExpectedBehavior string       `json:"expected_behavior,omitempty" maxLength:"4000"`
	ActualBehavior   string       `json:"actual_behavior,omitempty" maxLength:"4000"`
	SourceOfTruth    string       `json:"source_of_truth,omitempty" maxLength:"4000" doc:"The source that contradicts the documentation."`
	SuggestedChange  string       `json:"suggested_change,omitempty" maxLength:"4000"`
	RelatedURLs      []string     `json:"related_urls,omitempty" maxItems:"10" itemsFormat:"uri" itemsMaxLength:"2048" doc:"Absolute URLs." example:"[\"https://partner.example/ticket/7\"]"`
	Submitter        Submitter    `json:"submitter,omitzero"`
	Contact          Contact      `json:"contact,omitzero"`
}

// Submitter identifies the submitter.
type Submitter struct {
	Kind   SubmitterKind `json:"kind,omitempty"`
	Agent  string        `json:"agent,omitempty" maxLength:"128" doc:"The name of the agent, if an agent submits." example:""`
	Client string        `json:"client,omitempty" maxLength:"128" doc:"The program that submits." example:"curl"`
}

// Contact holds the submitter's contact details.
type Contact struct {
	Email            string        `json:"email,omitempty" format:"email" maxLength:"255" example:"ada@partner.example"`
	PreferredContact ContactMethod `json:"preferred_contact,omitempty" doc:"The preferred way to get an answer."`
	ConsentToContact bool          `json:"consent_to_contact" doc:"Whether the operator may write to you." example:"true"`
}

// WantsAnswer reports whether the submitter has an address and agrees to an answer.
func (c *Contact) WantsAnswer() bool {
	return c.ConsentToContact && c.Email != "" && c.PreferredContact != ContactNone
}

// Feedback is a stored submission. It belongs to the operator.
type Feedback struct {
	ID string `json:"feedback_id" example:"fb_01JZ2E6K8M0000000000000000"`
	FeedbackForm
	RequestID string `json:"request_id" doc:"The request that submitted the feedback." example:"req_01JZ2E6K8M0000000000000000"`
	Base
}

// FeedbackLog stores submissions in a stream of their own, not in the log of record.
// Anybody may submit, so the stream has its own size limit.
type FeedbackLog interface {
	// PutFeedback stores a submission and returns when it is durable. It does not change
	// an existing submission with the same identifier. Errors: ErrUnavailable.
	PutFeedback(ctx context.Context, f Feedback) error
	// Feedback returns up to limit submissions that were stored after the given
	// submission, the oldest first. Errors: ErrUnavailable.
	Feedback(ctx context.Context, after string, limit int) ([]Feedback, error)
	// DeleteFeedback overwrites a submission. Errors: ErrNotFound, ErrNotErasable,
	// ErrUnavailable.
	DeleteFeedback(ctx context.Context, id string) error
}

// Mentions reports whether the text of the submission has one of the words, in any case.
func (f *FeedbackForm) Mentions(words []string) bool {
	form := quoted(f)
	return slices.ContainsFunc(words, func(word string) bool { return bytes.Contains(form, bytes.Trim(quoted(word), `"`)) })
}

// quoted returns the JSON of a value in lower case.
func quoted(v any) []byte {
	text, _ := json.Marshal(v) // a form and a string never fail
	return bytes.ToLower(text)
}

// Check adds every wrong field.
func (f *Feedback) Check(p *Problems) {
	p.Check(f.Contact.Email != "" || f.Contact.PreferredContact != ContactEmail, "contact.email", "is required if preferred_contact is email")
}
