package proc

// apply can set nothing here except the memory limit of the collector, which is set already.
func (Sandbox) apply(try func(what string, err error)) {
	try("memory, time, files, sockets and programs", ErrUnsupported)
}
