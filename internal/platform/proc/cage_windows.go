package proc

// apply can set nothing here but the share of the collector, which is set already.
func (Sandbox) apply(try func(what string, err error)) {
	try("memory, time, files, sockets and programs", ErrUnsupported)
}
