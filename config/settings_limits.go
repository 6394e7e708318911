package config

// limitSettings bound what one who asks may cost.
func limitSettings() []Setting {
	return []Setting{
		{
			Name: "rate-limit", Default: "100", Roles: answering,
			Help:  "the requests a second that one API key may make",
			field: func(c *Config) any { return &c.Limits.RateLimit }, check: func(c *Config) string { return perSecond(c.Limits.RateLimit) },
		},
		{
			Name: "rate-burst", Default: "200", Roles: answering,
			Help:  "how many requests one API key may make at once",
			field: func(c *Config) any { return &c.Limits.RateBurst }, check: func(c *Config) string { return upTo(c.Limits.RateBurst, 1e6) },
		},
		{
			Name: "feedback-rate", Default: "0.2", Roles: answering,
			Help:  "the submissions of feedback a second that one client address may make",
			field: func(c *Config) any { return &c.Limits.FeedbackRate }, check: func(c *Config) string { return perSecond(c.Limits.FeedbackRate) },
		},
		{
			Name: "feedback-burst", Default: "10", Roles: answering,
			Help:  "how many submissions of feedback one client address may make at once",
			field: func(c *Config) any { return &c.Limits.FeedbackBurst }, check: func(c *Config) string { return upTo(c.Limits.FeedbackBurst, 1e6) },
		},
		{
			Name: "max-body", Default: "1MiB", Roles: answering,
			Help:  "the largest JSON body that the API takes, and the longest line of an import",
			field: func(c *Config) any { return &c.Limits.MaxBody }, check: func(c *Config) string { return bodySize(c.Limits.MaxBody, 16<<20) },
		},
		{
			Name: "max-import", Default: "16MiB", Roles: answering,
			Help:  "the largest import that the API takes at once; gridhook import sends at most 16MiB",
			field: func(c *Config) any { return &c.Limits.MaxImport }, check: func(c *Config) string { return bodySize(c.Limits.MaxImport, 256<<20) },
		},
		{
			Name: "max-depth", Default: "32", Roles: answering,
			Help:  "how deep the JSON that the API takes may be nested",
			field: func(c *Config) any { return &c.Limits.MaxDepth }, check: func(c *Config) string { return upTo(c.Limits.MaxDepth, 1000) },
		},
		{
			Name: "estimates", Default: "0", Roles: answering,
			Help:  "how many estimates of savings are worked on at once; 0 for half of the processors",
			field: func(c *Config) any { return &c.Limits.Estimates }, check: estimates,
		},
		{
			Name: "cors-origins", Roles: answering,
			Help:  "the origins of web pages whose scripts may call the API from browsers, such as https://app.example.com, with commas between them; by default none",
			field: func(c *Config) any { return &c.CORSOrigins }, check: func(c *Config) string { return origins(c.CORSOrigins) },
		},
	}
}

// connectionSettings bound what one connection may cost.
func connectionSettings() []Setting {
	return []Setting{
		{
			Name: "max-headers", Default: "16KiB", Roles: answering,
			Help:  "the most bytes of headers that a request may have",
			field: func(c *Config) any { return &c.Limits.MaxHeaders }, check: maxHeaders,
		},
		{
			Name: "header-timeout", Default: "5s", Roles: answering,
			Help:  "how long a request's headers may take to come",
			field: func(c *Config) any { return &c.Limits.HeaderTimeout }, check: func(c *Config) string { return connectionTime(c.Limits.HeaderTimeout) },
		},
		{
			Name: "read-timeout", Default: "15s", Roles: answering,
			Help:  "how long a whole request may take to come",
			field: func(c *Config) any { return &c.Limits.ReadTimeout }, check: readTimeout,
		},
		{
			Name: "request-timeout", Default: "25s", Roles: answering,
			Help:  "how long an operation may take",
			field: func(c *Config) any { return &c.Limits.RequestTimeout }, check: func(c *Config) string { return connectionTime(c.Limits.RequestTimeout) },
		},
		{
			Name: "write-timeout", Default: "30s", Roles: answering,
			Help:  "how long a request may take from its headers to the end of its answer; longer than request-timeout, so that there is always one",
			field: func(c *Config) any { return &c.Limits.WriteTimeout }, check: writeTimeout,
		},
		{
			Name: "idle-timeout", Default: "60s", Roles: answering,
			Help:  "how long a connection may wait for its next request",
			field: func(c *Config) any { return &c.Limits.IdleTimeout }, check: func(c *Config) string { return connectionTime(c.Limits.IdleTimeout) },
		},
	}
}
