// Package kopia keeps trees and histories in a Kopia repository, on a disk or in a bucket. It
// is the only door to Kopia: none of its types leave this package.
//
// It may touch the store's directory, through fsx, the bucket it is given, and a private
// temporary directory for the engine's configuration. It never uses Kopia's own walk,
// restore, retention or maintenance order, and never puts a caller's password anywhere.
//
//	B1  An index blob is published only after every pack it names is durable (disk.go, bucket.go).
//	B2  A history is one manifest; its head is the highest sequence number (line.go).
//	B3  Ordinary entries are written byte for byte as stock Kopia writes them (codec.go).
//	B4  The engine's clock never goes back, across restarts too (clockfile.go).
//	B5  A sweep runs alone: no writer of ours, no foreign session (sweep.go).
package kopia
