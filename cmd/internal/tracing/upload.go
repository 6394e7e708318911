package tracing

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// uploads posts spans. The library's own client adds gRPC: 9 MB of binary size for one
// POST.
type uploads struct {
	url     string
	headers map[string]string
	client  *http.Client
}

// uploadWait is the timeout of one POST.
const uploadWait = 10 * time.Second

// tracesPath is a collector's path for traces (OTLP 1.x, section "OTLP/HTTP Request").
const tracesPath = "/v1/traces"

func newUploads(endpoint string, headers map[string]string) (*uploads, error) {
	u, err := url.Parse(endpoint)
	if err != nil {
		return nil, fmt.Errorf("the collector's URL: %w", err)
	}
	if !strings.HasSuffix(u.Path, tracesPath) {
		u = u.JoinPath(tracesPath)
	}
	return &uploads{url: u.String(), headers: headers, client: &http.Client{Timeout: uploadWait, Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute,
	}}}, nil
}

// Start does nothing.
func (u *uploads) Start(context.Context) error { return nil }

// Stop closes idle connections.
func (u *uploads) Stop(context.Context) error {
	u.client.CloseIdleConnections()
	return nil
}

// UploadTraces posts spans without a retry.
func (u *uploads) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	// The encoding is the same as for an ExportTraceServiceRequest.
	data, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(data) // into memory
	_ = z.Close()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, u.url, &packed)
	if err != nil {
		return err
	}
	for name, value := range u.headers {
		request.Header.Set(name, value)
	}
	request.Header.Set("Content-Type", "application/x-protobuf")
	request.Header.Set("Content-Encoding", "gzip")
	response, err := u.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // it was read as far as it matters
	const told = 256
	answer, _ := io.ReadAll(io.LimitReader(response.Body, told)) // the status is sufficient
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("collector responded %s: %q", response.Status, answer)
	}
	return nil
}
