package wire

// OrganizationUsage is what an organization takes up.
type OrganizationUsage struct {
	OrganizationID  string `json:"organizationId" example:"acme"`
	Homes           int    `json:"homes" example:"1200"`
	Devices         int    `json:"devices" example:"300"`
	Endpoints       int    `json:"endpoints" doc:"Webhook endpoints, disabled ones included." example:"2"`
	Schedules       int    `json:"schedules" example:"1"`
	Keys            int    `json:"keys" doc:"API keys, revoked ones included." example:"3"`
	StoredBytes     int64  `json:"storedBytes" doc:"The size of the stored records, without triggers and deliveries." example:"900000"`
	WaitingTriggers int    `json:"waitingTriggers" doc:"Triggers that are not completed." example:"1"`
	HistoryBytes    int64  `json:"historyBytes" doc:"The size of the stored triggers and receipts." example:"52000000"`
	Deliveries      int    `json:"deliveries" doc:"Deliveries in the delivery log." example:"806400"`
}
