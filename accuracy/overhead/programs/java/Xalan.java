import java.io.StringReader;
import java.io.StringWriter;
import javax.xml.transform.Templates;
import javax.xml.transform.stream.StreamResult;
import javax.xml.transform.stream.StreamSource;

/** Apache Xalan makes HTML of a list of orders. */
public class Xalan implements Runs.Work {
  static final int ORDERS = 300;
  static final String SHEET = "<xsl:stylesheet version='1.0' xmlns:xsl='http://www.w3.org/1999/XSL/Transform'>"
      + "<xsl:key name='by' match='order' use='@customer'/><xsl:template match='/'><html><body>"
      + "<xsl:for-each select='//order'><xsl:sort select='@price' data-type='number'/><xsl:apply-templates select='.'/>"
      + "</xsl:for-each></body></html></xsl:template><xsl:template match='order'><tr><td><xsl:value-of select='@id'/>"
      + "</td><td><xsl:value-of select=\"translate(text(), 'abc', 'ABC')\"/></td><td>"
      + "<xsl:value-of select=\"count(key('by', @customer))\"/></td>"
      + "<xsl:if test='@price &gt; 500'><td>dear</td></xsl:if></tr></xsl:template></xsl:stylesheet>";

  final Templates templates;
  final String orders;

  public Xalan() throws Exception {
    templates = new org.apache.xalan.processor.TransformerFactoryImpl()
        .newTemplates(new StreamSource(new StringReader(SHEET)));
    StringBuilder b = new StringBuilder("<orders>");
    for (int i = 0; i < ORDERS; i++) {
      b.append("<order id='" + i + "' customer='" + i % 17 + "' price='" + i * 7919 % 1000 + "'>abc and more</order>");
    }
    orders = b + "</orders>";
  }

  @Override
  public void once() throws Exception {
    StringWriter out = new StringWriter();
    templates.newTransformer().transform(new StreamSource(new StringReader(orders)), new StreamResult(out));
    if (out.getBuffer().length() < 1000) {
      throw new IllegalStateException("no page");
    }
  }
}
