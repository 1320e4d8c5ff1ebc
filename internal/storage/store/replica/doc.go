// Package replica keeps a copy of a store at another place: a directory, a bucket, another host.
//
// It may touch the place it is given, below the names of the copy, and reads the store. It never
// writes to the store, never replaces or changes an object of the copy, and holds no lock of the
// store while it waits for the place.
//
//	R1  A head is put after all that it names, with a number of its own, and is never replaced: the
//	    copy is whole at every instant, up to its newest head.
//	R2  A checkpoint counts as uploaded when a head that lists it was put and acknowledged.
//	R3  Who finds a head that is not of its own line of heads stops: one store, one copy, one writer.
//	R4  Only Sweep deletes packs and indexes, and only those that no head named for the whole window
//	    and that no pin keeps. Of heads the newest four stay.
//	R5  Nobody without the key of the store learns more than sizes and times of packs.
//
// A copy is a Kopia repository: any Kopia opens it with the password of the store. It sees what the
// index objects name, so the newest packs, up to 15 of them, are missing to it. Its objects:
//
//	kopia.repository, kopia.blobcfg   what opens it, as in the store
//	p*, q*                            packs; each ends with an index of itself
//	xn0_*                             indexes, merged from those of packs and from older ones
//	retake.head.*                     heads, by number: which indexes count, and how far each history is
//	retake.pin.*                      pins: who stands on this copy
package replica
