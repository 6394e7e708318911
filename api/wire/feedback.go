package wire

import (
	"github.com/gridhook/gridhook/storage"
)

// FeedbackReceipt confirms that a submission is stored durably.
type FeedbackReceipt struct {
	ID       string   `json:"feedback_id" example:"fb_01JZ2E6K8M0000000000000000"`
	Received bool     `json:"received" doc:"true: the submission is stored." example:"true"`
	FollowUp FollowUp `json:"follow_up"`
}

// FollowUp says whether and how the sender wants an answer.
type FollowUp struct {
	Requested     bool                  `json:"requested" example:"true"`
	ContactMethod storage.ContactMethod `json:"contact_method"`
}
