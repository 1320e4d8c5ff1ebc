// Package tracing sends traces of requests to a collector, by OpenTelemetry over HTTP.
//
// It is off unless an address is configured. It sends names of operations, durations and status
// codes, never a path, a prompt or anything else from a workspace.
package tracing

import (
	"context"
	"fmt"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"
)

// Tracer creates spans. A nil Tracer does nothing.
type Tracer struct {
	provider *trace.TracerProvider
	tracer   oteltrace.Tracer
}

// New creates a tracer for a collector at an address such as https://collector:4318.
func New(ctx context.Context, address, version string) (*Tracer, error) {
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(address))
	if err != nil {
		return nil, fmt.Errorf("begin tracing: %w", err)
	}
	what := resource.NewSchemaless(attribute.String("service.name", "retake"), attribute.String("service.version", version))
	p := trace.NewTracerProvider(trace.WithBatcher(exporter), trace.WithResource(what))
	return &Tracer{provider: p, tracer: p.Tracer("github.com/retake-dev/retake")}, nil
}

// StartRequest starts the span of a request, as a child of the client's span if it sent one.
// The returned function ends it.
func (t *Tracer) StartRequest(r *http.Request, operation string) (context.Context, func(code int)) {
	if t == nil {
		return r.Context(), func(int) {}
	}
	ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	ctx, span := t.tracer.Start(ctx, operation, oteltrace.WithSpanKind(oteltrace.SpanKindServer))
	return ctx, func(code int) {
		span.SetAttributes(attribute.Int("http.response.status_code", code))
		if code >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, http.StatusText(code))
		}
		span.End()
	}
}

// Close sends the spans that were not sent yet.
func (t *Tracer) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	if err := t.provider.Shutdown(ctx); err != nil {
		return fmt.Errorf("end tracing: %w", err)
	}
	return nil
}
