// Package metrics counts what a server does, for Prometheus.
//
// It contains numbers only. Labels are operations, status codes and queues, never the name of a
// namespace, a workspace or a key.
package metrics

import (
	"database/sql"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Meter is the set of counters of one server.
type Meter struct {
	registry      *prometheus.Registry
	requests      *prometheus.CounterVec
	durations     *prometheus.HistogramVec
	inFlight      prometheus.Gauge
	refused       *prometheus.CounterVec
	failures      *prometheus.CounterVec
	s3Requests    *prometheus.CounterVec
	s3Durations   *prometheus.HistogramVec
	openDurations *prometheus.HistogramVec
	openFailures  *prometheus.CounterVec
	scrubs        *prometheus.CounterVec
}

// Gauge is a number that is read whenever the metrics are. It is left out while it is not known:
// a 0 would be a lie.
type Gauge struct {
	Name, Help string
	Labels     map[string]string
	Read       func() (value float64, known bool)
}

var latencies = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}

// New creates the metrics of a server that uses a database, with the gauges given.
func New(db *sql.DB, gauges ...Gauge) *Meter {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	histogram := func(name, help string, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: latencies}, labels)
	}
	m := &Meter{
		registry:      prometheus.NewRegistry(),
		requests:      counter("retake_requests_total", "Requests answered.", "operation", "code"),
		durations:     histogram("retake_request_duration_seconds", "How long requests took.", "operation"),
		inFlight:      prometheus.NewGauge(prometheus.GaugeOpts{Name: "retake_requests_in_flight", Help: "Requests under way."}),
		refused:       counter("retake_refused_total", "Requests refused before they reached a namespace.", "why"),
		failures:      counter("retake_background_failures_total", "Failures of work that nobody waits for.", "task"),
		s3Requests:    counter("retake_s3_requests_total", "Requests to the bucket, with their retries.", "operation", "result"),
		s3Durations:   histogram("retake_s3_request_duration_seconds", "How long requests to the bucket took.", "operation"),
		openDurations: histogram("retake_open_duration_seconds", "How long it took to open a namespace, or its store.", "part"),
		openFailures:  counter("retake_open_failures_total", "Namespaces and stores that could not be opened.", "part"),
		scrubs:        counter("retake_scrubs_total", "Scrubs that ended.", "result"),
	}
	m.registry.MustRegister(m.requests, m.durations, m.inFlight, m.refused, m.failures, m.s3Requests, m.s3Durations, m.openDurations, m.openFailures, m.scrubs,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), collectors.NewDBStatsCollector(db, "retake"))
	for _, g := range gauges {
		m.registry.MustRegister(&gaugeCollector{prometheus.NewDesc(g.Name, g.Help, nil, g.Labels), g.Read})
	}
	return m
}

// gaugeCollector serves a gauge.
type gaugeCollector struct {
	desc *prometheus.Desc
	read func() (float64, bool)
}

// Describe implements prometheus.Collector.
func (c *gaugeCollector) Describe(out chan<- *prometheus.Desc) { out <- c.desc }

// Collect implements prometheus.Collector.
func (c *gaugeCollector) Collect(out chan<- prometheus.Metric) {
	if v, known := c.read(); known {
		out <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, v)
	}
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

// CountBackgroundFailure counts a failure of a task that nobody waits for.
func (m *Meter) CountBackgroundFailure(task string) { m.failures.WithLabelValues(task).Inc() }

// CountS3 counts a request to the bucket.
func (m *Meter) CountS3(operation, result string, took time.Duration) {
	m.s3Requests.WithLabelValues(operation, result).Inc()
	m.s3Durations.WithLabelValues(operation).Observe(took.Seconds())
}

// CountOpen counts a namespace or a store that was opened, or could not be.
func (m *Meter) CountOpen(part string, took time.Duration, err error) {
	if err != nil {
		m.openFailures.WithLabelValues(part).Inc()
		return
	}
	m.openDurations.WithLabelValues(part).Observe(took.Seconds())
}

// CountScrub counts a scrub that ended.
func (m *Meter) CountScrub(result string) { m.scrubs.WithLabelValues(result).Inc() }

// Handler serves the metrics.
func (m *Meter) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}
