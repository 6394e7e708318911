package storage

import (
	"context"
	"net/mail"
	"net/url"
)

// FeedbackType is the topic of a submission.
type FeedbackType string

// FeedbackTypes returns all types.
func FeedbackTypes() []FeedbackType {
	return []FeedbackType{
		"question", "docs_issue", "source_of_truth_disagreement", "blocked_build", "bug",
		"feature_request", "integration_request", "suggestion", "other",
	}
}

// Environment is the environment that a submission refers to.
type Environment string

// Environments returns all environments.
func Environments() []Environment {
	return []Environment{"production", "sandbox", "local", "other"}
}

// SubmitterKind is the kind of a submitter.
type SubmitterKind string

// SubmitterKinds returns all kinds.
func SubmitterKinds() []SubmitterKind { return []SubmitterKind{"human", "agent", "service"} }

// ContactMethod is a submitter's preferred way to get an answer.
type ContactMethod string

// The contact methods.
const (
	ContactEmail ContactMethod = "email"
	ContactNone  ContactMethod = "none"
)

// ContactMethods returns all methods.
func ContactMethods() []ContactMethod { return []ContactMethod{ContactEmail, ContactNone} }

// FeedbackForm holds the fields of a submission. Only the type, the summary and the
// message are required.
type FeedbackForm struct {
	Name             string       `json:"name,omitempty" maxLength:"255" example:"Ada"`
	Company          string       `json:"company,omitempty" maxLength:"255" example:"Partner Inc."`
	Type             FeedbackType `json:"feedback_type"`
	Summary          string       `json:"summary" minLength:"1" maxLength:"255" example:"How are clock changes shown?"`
	Message          string       `json:"message" minLength:"1" maxLength:"4000" example:"Does a day have 92 intervals then?"`
	Page             string       `json:"page,omitempty" maxLength:"2048" doc:"The reference page that it is about." example:"price-signal"`
	Endpoint         string       `json:"endpoint,omitempty" maxLength:"500" doc:"The path of the operation that it is about." example:"/v1/homes/{id}/price_signal"`
	Environment      Environment  `json:"environment,omitempty" doc:"Where it was met."`
	StepsToReproduce string       `json:"steps_to_reproduce,omitempty" maxLength:"4000"`
	ExpectedBehavior string       `json:"expected_behavior,omitempty" maxLength:"4000"`
	ActualBehavior   string       `json:"actual_behavior,omitempty" maxLength:"4000"`
	SourceOfTruth    string       `json:"source_of_truth,omitempty" maxLength:"4000" doc:"What says otherwise."`
	SuggestedChange  string       `json:"suggested_change,omitempty" maxLength:"4000"`
	RelatedURLs      []string     `json:"related_urls,omitempty" maxItems:"10" itemsFormat:"uri" itemsMaxLength:"2048" doc:"Absolute URLs." example:"[\"https://partner.example/ticket/7\"]"`
	Submitter        Submitter    `json:"submitter,omitzero"`
	Contact          Contact      `json:"contact,omitzero"`
}

// Submitter identifies the submitter.
type Submitter struct {
	Kind   SubmitterKind `json:"kind,omitempty"`
	Agent  string        `json:"agent,omitempty" maxLength:"128" doc:"The agent that submits, where one does." example:""`
	Client string        `json:"client,omitempty" maxLength:"128" doc:"The program that it submits with." example:"curl"`
}

// Contact holds the submitter's contact details.
type Contact struct {
	Email            string        `json:"email,omitempty" format:"email" maxLength:"255" example:"ada@partner.example"`
	PreferredContact ContactMethod `json:"preferred_contact,omitempty" doc:"How to be answered."`
	ConsentToContact bool          `json:"consent_to_contact" doc:"Whether you may be written to." example:"true"`
}

// WantsAnswer reports whether the submitter has an address and agrees to an answer.
func (c *Contact) WantsAnswer() bool {
	return c.ConsentToContact && c.Email != "" && c.PreferredContact != ContactNone
}

// Feedback is a stored submission. It belongs to the operator.
type Feedback struct {
	ID string `json:"feedback_id" example:"fb_01JZ2E6K8M0000000000000000"`
	FeedbackForm
	RequestID string `json:"request_id" doc:"The request that brought it." example:"req_01JZ2E6K8M0000000000000000"`
	Base
}

// FeedbackLog stores submissions in a stream of their own, not in the log of record.
// Anybody may submit, so the stream has its own size limit.
type FeedbackLog interface {
	// PutFeedback stores a submission and returns when it is durable. It does not change
	// an existing submission with the same identifier. Errors: ErrUnavailable.
	PutFeedback(ctx context.Context, f Feedback) error
	// Feedback returns up to limit submissions with identifiers after the given
	// identifier, the oldest first. Errors: ErrUnavailable.
	Feedback(ctx context.Context, after string, limit int) ([]Feedback, error)
}

// These limits bound the texts of a submission, in characters, and its list of URLs.
const (
	maxFeedbackText = 4000
	maxFeedbackURL  = 2048
	maxRelatedURLs  = 10
)

// Validate names every wrong field.
func (f *Feedback) Validate() error {
	var p Problems
	checkID(&p, "feedback_id", f.ID)
	checkText(&p, "name", f.Name, 0, 255)
	checkText(&p, "company", f.Company, 0, 255)
	checkEnum(&p, "feedback_type", f.Type, FeedbackTypes()...)
	checkText(&p, "summary", f.Summary, 1, 255)
	checkText(&p, "message", f.Message, 1, maxFeedbackText)
	checkText(&p, "page", f.Page, 0, maxFeedbackURL)
	checkText(&p, "endpoint", f.Endpoint, 0, 500)
	if f.Environment != "" {
		checkEnum(&p, "environment", f.Environment, Environments()...)
	}
	checkText(&p, "steps_to_reproduce", f.StepsToReproduce, 0, maxFeedbackText)
	checkText(&p, "expected_behavior", f.ExpectedBehavior, 0, maxFeedbackText)
	checkText(&p, "actual_behavior", f.ActualBehavior, 0, maxFeedbackText)
	checkText(&p, "source_of_truth", f.SourceOfTruth, 0, maxFeedbackText)
	checkText(&p, "suggested_change", f.SuggestedChange, 0, maxFeedbackText)
	p.Check(len(f.RelatedURLs) <= maxRelatedURLs, "related_urls", "must be at most %d", maxRelatedURLs)
	for i, text := range f.RelatedURLs {
		u, err := url.Parse(text)
		p.Check(err == nil && u.Host != "" && len(text) <= maxFeedbackURL, index("related_urls", i),
			"must be an absolute URL of at most %d characters", maxFeedbackURL)
	}
	f.Submitter.check(&p)
	f.Contact.check(&p)
	return p.Err()
}

func (s *Submitter) check(p *Problems) {
	if s.Kind != "" {
		checkEnum(p, "submitter.kind", s.Kind, SubmitterKinds()...)
	}
	checkText(p, "submitter.agent", s.Agent, 0, 128)
	checkText(p, "submitter.client", s.Client, 0, 128)
}

func (c *Contact) check(p *Problems) {
	if c.PreferredContact != "" {
		checkEnum(p, "contact.preferred_contact", c.PreferredContact, ContactMethods()...)
	}
	if c.Email == "" {
		p.Check(c.PreferredContact != ContactEmail, "contact.email", "is required where email is the preferred contact")
		return
	}
	checkText(p, "contact.email", c.Email, 1, 255)
	address, err := mail.ParseAddress(c.Email)
	p.Check(err == nil && address.Address == c.Email, "contact.email", "must be an email address such as name@example.com")
}
