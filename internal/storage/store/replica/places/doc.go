// Package places has the places that copies of stores are kept at: a directory, a bucket with the
// interface of S3 (Google Cloud Storage and Backblaze B2 have it, too), and what the engine's own
// clients reach: SFTP, WebDAV and Azure Blob Storage.
//
// It may touch what it is given an address of, below the prefix of one copy. It never deletes by itself
// and knows nothing of what is in an object.
package places
