// Package metrics counts what a server does, for Prometheus.
//
// It contains numbers only. Labels are operations, status codes and queues, never the name of a
// namespace, a workspace or a key.
package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Meter is the set of counters of one server.
type Meter struct {
	registry  *prometheus.Registry
	requests  *prometheus.CounterVec
	durations *prometheus.HistogramVec
	inFlight  prometheus.Gauge
	refused   *prometheus.CounterVec
	failures  *prometheus.CounterVec
}

// New creates the metrics of a server. open returns how many namespaces are open, and depth how
// many items are in a queue, and parked how many of them failed too often.
func New(open func() float64, queues []string, depth, parked func(queue string) float64) *Meter {
	m := &Meter{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "retake_requests_total", Help: "Requests answered."}, []string{"operation", "code"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "retake_request_duration_seconds", Help: "How long requests took.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}}, []string{"operation"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "retake_requests_in_flight", Help: "Requests under way."}),
		refused:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: "retake_refused_total", Help: "Requests refused before they reached a namespace."}, []string{"why"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "retake_background_failures_total", Help: "Failures of work that nobody waits for."}, []string{"task"}),
	}
	m.registry.MustRegister(m.requests, m.durations, m.inFlight, m.refused, m.failures,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "retake_namespaces_open", Help: "Namespaces that this server has open."}, open))
	for _, q := range queues {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "retake_queue_depth", Help: "Items that are due or claimed.", ConstLabels: prometheus.Labels{"queue": q},
		}, func() float64 { return depth(q) }), prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "retake_queue_parked", Help: "Items that failed so often that they are tried once a day only.", ConstLabels: prometheus.Labels{"queue": q},
		}, func() float64 { return parked(q) }))
	}
	return m
}

// StartRequest counts a request in progress. The returned function records its end.
func (m *Meter) StartRequest() func(operation string, code int, took time.Duration) {
	m.inFlight.Inc()
	return func(operation string, code int, took time.Duration) {
		m.inFlight.Dec()
		m.requests.WithLabelValues(operation, strconv.Itoa(code)).Inc()
		m.durations.WithLabelValues(operation).Observe(took.Seconds())
	}
}

// CountRefused counts a request that was refused before it reached a namespace.
func (m *Meter) CountRefused(why string) { m.refused.WithLabelValues(why).Inc() }

// Handler serves the metrics.
func (m *Meter) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// CountBackgroundFailure counts a failure of a task that nobody waits for.
func (m *Meter) CountBackgroundFailure(task string) { m.failures.WithLabelValues(task).Inc() }
