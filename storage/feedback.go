package storage

import (
	"net/mail"
	"net/url"
)

// FeedbackType is what a submission is about.
type FeedbackType string

// FeedbackTypes are all types.
func FeedbackTypes() []FeedbackType {
	return []FeedbackType{
		"question", "docs_issue", "source_of_truth_disagreement", "blocked_build", "bug",
		"feature_request", "integration_request", "suggestion", "other",
	}
}

// Environment is where what a submission is about was met.
type Environment string

// Environments are all environments.
func Environments() []Environment {
	return []Environment{"production", "sandbox", "local", "other"}
}

// SubmitterKind is what sort of somebody submits.
type SubmitterKind string

// SubmitterKinds are all kinds.
func SubmitterKinds() []SubmitterKind { return []SubmitterKind{"human", "agent", "service"} }

// ContactMethod is how a submitter wants to be answered.
type ContactMethod string

// The contact methods.
const (
	ContactEmail ContactMethod = "email"
	ContactNone  ContactMethod = "none"
)

// ContactMethods are all methods.
func ContactMethods() []ContactMethod { return []ContactMethod{ContactEmail, ContactNone} }

// FeedbackForm is what a submitter says. All but the type, the summary and the
// message may be left out.
type FeedbackForm struct {
	Name             string       `json:"name,omitempty"`
	Company          string       `json:"company,omitempty"`
	Type             FeedbackType `json:"feedback_type"`
	Summary          string       `json:"summary"`
	Message          string       `json:"message"`
	Page             string       `json:"page,omitempty"`
	Endpoint         string       `json:"endpoint,omitempty"`
	Environment      Environment  `json:"environment,omitempty"`
	StepsToReproduce string       `json:"steps_to_reproduce,omitempty"`
	ExpectedBehavior string       `json:"expected_behavior,omitempty"`
	ActualBehavior   string       `json:"actual_behavior,omitempty"`
	SourceOfTruth    string       `json:"source_of_truth,omitempty"`
	SuggestedChange  string       `json:"suggested_change,omitempty"`
	RelatedURLs      []string     `json:"related_urls,omitempty"`
	Submitter        Submitter    `json:"submitter,omitzero"`
	Contact          Contact      `json:"contact,omitzero"`
}

// Submitter is who submits.
type Submitter struct {
	Kind   SubmitterKind `json:"kind,omitempty"`
	Agent  string        `json:"agent,omitempty"`
	Client string        `json:"client,omitempty"`
}

// Contact is how to reach the submitter.
type Contact struct {
	Email            string        `json:"email,omitempty"`
	PreferredContact ContactMethod `json:"preferred_contact,omitempty"`
	ConsentToContact bool          `json:"consent_to_contact"`
}

// WantsAnswer reports whether the submitter can be answered and agrees to it.
func (c *Contact) WantsAnswer() bool {
	return c.ConsentToContact && c.Email != "" && c.PreferredContact != ContactNone
}

// Feedback is a submission as it is kept. It belongs to the operator.
type Feedback struct {
	ID string `json:"feedback_id"`
	FeedbackForm
	// RequestID is the request that brought it.
	RequestID string `json:"request_id"`
	Base
}

// FeedbackRef names a submission.
func FeedbackRef(id string) Ref { return Ref{KindFeedback, Shared, id} }

// Ref names the submission.
func (f *Feedback) Ref() Ref { return FeedbackRef(f.ID) }

// The lengths of texts in a submission, in characters, and of its list.
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
