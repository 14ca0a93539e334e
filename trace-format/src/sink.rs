use crate::cta::CtaBuilder;
use crate::dictionary::Dictionary;
use crate::error::TraceError;
use crate::record::KernelInfo;
use crate::writer::TraceWriter;

/// A destination of kernels, CTA by CTA: a [`TraceWriter`], or a filter in front of one.
pub trait TraceSink {
    /// # Errors
    /// When the previous kernel is still open, or the kernel cannot be stored.
    fn begin_kernel(&mut self, info: KernelInfo) -> Result<(), TraceError>;
    /// Returns the dictionary of the open kernel.
    fn dictionary(&mut self) -> &mut Dictionary;
    /// Appends a CTA whose instructions are in the dictionary.
    ///
    /// # Errors
    /// When it contradicts the kernel's instructions, or cannot be stored.
    fn cta(&mut self, cta: &CtaBuilder) -> Result<(), TraceError>;
    /// # Errors
    /// When no kernel is open, or it cannot be stored.
    fn end_kernel(&mut self) -> Result<(), TraceError>;
}

impl TraceSink for TraceWriter {
    fn begin_kernel(&mut self, info: KernelInfo) -> Result<(), TraceError> {
        self.begin_kernel(info)
    }

    fn dictionary(&mut self) -> &mut Dictionary {
        self.dictionary()
    }

    fn cta(&mut self, cta: &CtaBuilder) -> Result<(), TraceError> {
        self.cta(cta)
    }

    fn end_kernel(&mut self) -> Result<(), TraceError> {
        self.end_kernel()
    }
}
