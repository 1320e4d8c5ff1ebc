package kopia

import (
	"math"

	"github.com/kopia/kopia/repo/compression"
	"github.com/kopia/kopia/snapshot/policy"
)

// compressor is fast enough to be unnoticed. The id of an object does not depend on it.
const compressor = compression.Name("zstd-fastest")

// stockPolicy makes a stock engine leave our history alone and compute the same tree ids: no
// retention, no actions, no ignore files, no upload in sections.
func stockPolicy() *policy.Policy {
	keep, none := policy.OptionalInt(math.MaxInt32), policy.OptionalInt(0)
	no, sections := policy.OptionalBool(false), policy.OptionalInt64(math.MaxInt64)
	return &policy.Policy{
		RetentionPolicy: policy.RetentionPolicy{
			KeepLatest: &keep, KeepHourly: &none, KeepDaily: &none, KeepWeekly: &none,
			KeepMonthly: &none, KeepAnnual: &none, IgnoreIdenticalSnapshots: &no,
		},
		FilesPolicy: policy.FilesPolicy{
			DotIgnoreFiles:         []string{".no-ignore-file"},
			IgnoreCacheDirectories: &no,
			OneFileSystem:          &no,
		},
		CompressionPolicy:         policy.CompressionPolicy{CompressorName: compressor},
		MetadataCompressionPolicy: policy.MetadataCompressionPolicy{CompressorName: compressor},
		SchedulingPolicy:          policy.SchedulingPolicy{Manual: true},
		UploadPolicy:              policy.UploadPolicy{ParallelUploadAboveSize: &sections},
	}
}
