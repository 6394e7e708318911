package main

import "github.com/spf13/cobra"

func newFeedbackCommand(g *globals) *cobra.Command {
	r := resource{
		g: g, noun: "feedback", plural: "submissions", path: "/v1/admin/feedback",
		columns: "ID:feedback_id, TIME:createdAt, TYPE:feedback_type, SUMMARY:summary",
		more:    "NAME:name, COMPANY:company, EMAIL:contact.email, MESSAGE:message",
	}
	return g.talks(group("feedback", "Feedback: questions and reports that anybody submitted",
		r.list("List the submissions, the oldest first", "  gridhook feedback list -o wide"),
		r.remove("Erase a submission", "  gridhook feedback delete fb_01JZ2E6K8M0000000000000000")))
}
